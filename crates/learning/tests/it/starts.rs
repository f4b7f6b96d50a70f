//! Where episodes begin: the trainer against the papers' algorithms, and invariants of every start.

use std::sync::atomic::Ordering::Relaxed;

use crate::common::{FIXED, TC, TD_0, backward, bits, delayed, settings, spec, td_lambda, trained};
use crate::oracle::{Naive, check};
use afterstate_game::State;
use afterstate_learning::{
    Budget, Parallel, StartSpec, Trainer, TrainingSettings,
    start::{Carousel, Restart, StageByStage},
};
use afterstate_network::{Network, NetworkSpec};

fn staged() -> NetworkSpec {
    NetworkSpec { stages: "256 512".parse().expect("stages"), ..spec(4, "0123 0145", 12, true) }
}

/// Every start, with parameters such that a short training covers all cases.
fn starts() -> [StartSpec; 7] {
    let carousel = |games_per_stage, kept, first_stage| {
        StartSpec::Carousel(Carousel { games_per_stage, kept, first_stage, last_stage: None, given: false })
    };
    [
        carousel(1, 1000, 0),
        carousel(3, 5, 0),
        StartSpec::Restart(Restart { restarts: 10, shortest: 10 }),
        StartSpec::Restart(Restart { restarts: 2, shortest: 1 }),
        StartSpec::StageByStage(StageByStage { collected: 5, restart: Restart::NONE }),
        carousel(1, 5, 1),
        StartSpec::StageByStage(StageByStage { collected: 5, restart: Restart { restarts: 2, shortest: 5 } }),
    ]
}

#[test]
fn every_start_with_every_target() {
    for start in starts() {
        for target in [td_lambda(0.5, 3), delayed(0.5, 3), backward(0.5)] {
            let settings = TrainingSettings { start, ..settings(target, TC, Budget::Actions(8_001)) };
            check::<4>(&staged(), &settings);
        }
    }
}

#[test]
fn starts_on_small_boards_and_by_the_paper_s_stages() {
    let small = NetworkSpec { stages: "256".parse().expect("stages"), ..spec(3, "012 0134", 10, true) };
    let plain = |promotion| NetworkSpec { stages: "2^8".parse().expect("stages"), promotion, ..staged() };
    for start in starts() {
        let with = |budget| TrainingSettings { start, ..settings(TD_0, FIXED, budget) };
        check::<3>(&small, &with(Budget::Episodes(150)));
        check::<4>(&plain(!matches!(start, StartSpec::StageByStage(_))), &with(Budget::Episodes(60)));
    }
}

/// The naive starts do what the papers say.
#[test]
fn episodes_begin_where_the_papers_say() {
    let begun = |start| {
        let settings = TrainingSettings { start, ..settings(TD_0, TC, Budget::Episodes(200)) };
        let mut naive = Naive::<4>::new(staged(), settings);
        naive.run();
        let stage = |state: &State<4>| staged().stages.of(&state.board().bytes());
        naive.starts.iter().map(|(fresh, state)| (*fresh, stage(state))).collect::<Vec<_>>()
    };
    let [one_each, three_each, restarts, two_restarts, by_stage, late, stage_restarts] = starts().map(begun);
    let is_turn = |pair: &[(bool, usize)]| pair[1].1 == 0 || pair[1].1 == pair[0].1 + 1;
    assert!(one_each.windows(2).all(is_turn), "one stage after the other");
    assert_eq!(one_each[191..197].iter().map(|start| start.1).sum::<usize>(), 6, "every stage in turn");
    let (threes, _) = three_each.as_chunks::<3>();
    assert!(threes.iter().all(|three| three.iter().all(|start| start.1 == three[0].1)));
    assert!(threes.iter().any(|three| three[0].1 == 2));
    for carousel in [&one_each, &three_each] {
        assert!(carousel.iter().all(|&(fresh, stage)| fresh == (stage == 0)), "only stage 1 begins anew");
    }
    let fresh = |starts: &[(bool, usize)]| starts.iter().filter(|(fresh, _)| *fresh).count();
    // Four chains at the end may be unfinished.
    assert!((200 / 11..60).contains(&fresh(&restarts)), "{}", fresh(&restarts));
    assert!((200 / 3..=200 / 3 + 4).contains(&fresh(&two_restarts)), "{}", fresh(&two_restarts));
    let collecting = by_stage.iter().take_while(|(fresh, _)| *fresh).count();
    assert!((1..190).contains(&collecting), "{collecting}");
    assert!(by_stage[collecting..].iter().all(|start| *start == (false, 2)), "then the last stage alone");
    assert_eq!(by_stage[..=collecting], stage_restarts[..=collecting], "no restarts while collecting");
    assert!(
        stage_restarts[collecting..].iter().all(|start| *start == (false, 2)),
        "nor outside of the last stage"
    );
    let collecting = late.iter().take_while(|(fresh, _)| *fresh).count();
    assert!((5..190).contains(&collecting), "{collecting}");
    let (turns, _) = late[collecting..].as_chunks::<2>();
    assert!(
        late[collecting..].iter().all(|&(fresh, stage)| !fresh && stage > 0),
        "never the first stage again"
    );
    assert!(turns.iter().any(|turn| turn[0].1 != turn[1].1), "both later stages in turn");
}

/// A carousel with given initial states plays no whole games if it begins in a later stage, and keeps the last ones.
#[test]
fn a_carousel_begins_with_given_positions() {
    let boards = ["0000/0100/0010/0000", "8000/0100/0010/0000", "8211/0100/0010/0000", "9000/0100/0010/0000"];
    let positions: Vec<String> = boards.map(str::to_owned).into();
    for (first_stage, kept) in [(1, 1), (1, 1000), (0, 1000)] {
        let carousel = Carousel { games_per_stage: 1, kept, first_stage, last_stage: None, given: true };
        let settings = TrainingSettings {
            start: StartSpec::Carousel(carousel),
            positions: positions.clone(),
            ..settings(delayed(0.5, 3), TC, Budget::Actions(8_001))
        };
        check::<4>(&staged(), &settings);
        let mut naive = Naive::<4>::new(staged(), settings);
        naive.run();
        let began = |board: &str| naive.starts.iter().filter(|(_, state)| state.to_string() == board).count();
        assert_eq!(naive.starts.iter().any(|(fresh, _)| *fresh), first_stage == 0);
        assert_eq!(began(boards[0]), 0, "a new game is all that stage 0 needs");
        assert_eq!(began(boards[1]) > 0, kept > 1, "the last ones are kept");
        assert!(began(boards[2]) > 0 && began(boards[3]) > 0);
    }
    let network = Network::new(staged()).expect("a small network");
    let ended = TrainingSettings {
        start: starts()[0],
        positions: vec!["1212/2121/1212/2121".to_owned()],
        ..settings(TD_0, TC, Budget::Episodes(1))
    };
    let error = Trainer::new(&network, ended).err().expect("a refusal").to_string();
    assert!(error.contains("not one from which a game can continue"), "{error}");
}

/// A carousel that ends before the last stage: no episode continues after it, and what follows does not learn.
#[test]
fn a_carousel_ends_in_an_earlier_stage() {
    let spec = NetworkSpec { initial: vec![0.0, 0.0, 500.0], ..staged() };
    for first_stage in [0, 1] {
        let carousel =
            Carousel { games_per_stage: 1, kept: 5, first_stage, last_stage: Some(1), given: false };
        for target in [td_lambda(0.5, 3), delayed(0.5, 3), backward(0.5)] {
            let settings = TrainingSettings {
                start: StartSpec::Carousel(carousel),
                ..settings(target, TC, Budget::Actions(20_001))
            };
            check::<4>(&spec, &settings);
            let network = trained(&spec, &settings);
            let constant = |table| network.table(table).all(|weight| weight == 0.0);
            let frozen = first_stage == 1;
            assert_eq!([0, 1, 2, 3, 4, 5].map(constant), [frozen, frozen, false, false, true, true]);
            let mut naive = Naive::<4>::new(spec.clone(), settings);
            naive.run();
            let stage = |state: &State<4>| spec.stages.of(&state.board().bytes());
            assert!(naive.starts.iter().all(|(_, state)| stage(state) < 2));
        }
    }
}

/// Starts that never take effect change no weight.
#[test]
fn starts_without_effect_are_fresh_ones() {
    let late = NetworkSpec { stages: "32768".parse().expect("stages"), ..staged() };
    let learned = |spec: &NetworkSpec, start| {
        bits(&trained(
            spec,
            &TrainingSettings { start, ..settings(td_lambda(0.5, 3), TC, Budget::Actions(20_000)) },
        ))
    };
    let fresh = learned(&late, StartSpec::Fresh);
    let one_stage = learned(&spec(4, "0123 0145", 12, true), StartSpec::Fresh);
    assert!(fresh.starts_with(&one_stage), "one stage");
    assert!(fresh[one_stage.len()..].iter().all(|&bits| bits == 0), "the second is never reached");
    assert!(fresh == learned(&late, starts()[0]), "a stage that is never reached");
    assert!(fresh == learned(&late, StartSpec::Restart(Restart { restarts: 0, shortest: 1 })));
    assert!(fresh == learned(&late, StartSpec::Restart(Restart { restarts: 10, shortest: 1 << 40 })));
    assert!(fresh != learned(&late, starts()[3]), "restarts have an effect");
    let by_stage = |restarts, shortest| {
        let restart = Restart { restarts, shortest };
        learned(&staged(), StartSpec::StageByStage(StageByStage { collected: 5, restart }))
    };
    assert!(by_stage(0, 1) == by_stage(10, 1 << 40), "no episode of the last stage is so long");
    assert!(by_stage(0, 1) != by_stage(10, 1), "restarts in the last stage have an effect");
}

/// Every episode counts, but only whole games are reported.
#[test]
fn only_whole_games_are_reported() {
    for start in starts() {
        for threads in [1, 2] {
            let budget = Budget::Episodes(100);
            let settings = TrainingSettings { start, threads, ..settings(TD_0, TC, budget) };
            let network = Network::new(staged()).expect("a small network");
            let mut trainer = Trainer::new(&network, settings.clone()).expect("a small trainer");
            let (mut games, mut most) = (0, 0);
            trainer.run(|_, finished| {
                games += finished.len();
                most = finished.iter().map(|game| game.game).max().unwrap_or(most).max(most);
                true
            });
            assert_eq!(trainer.progress().episodes, 100);
            assert!((1..100).contains(&games), "{games} whole games, {settings:?}");
            assert!(most < 100);
            if threads == 1 {
                let mut naive = Naive::<4>::new(staged(), settings);
                naive.run();
                assert_eq!(games, naive.starts.iter().filter(|(fresh, _)| *fresh).count());
            }
        }
    }
}

/// V, E and A of all stages but the last one stay as they are, however many threads learn.
#[test]
fn frozen_stages_do_not_change() {
    let two = NetworkSpec { stages: "256".parse().expect("stages"), ..spec(4, "0123 0145", 16, true) };
    for promotion in [false, true] {
        let spec = NetworkSpec { promotion, ..two.clone() };
        let network = trained(&spec, &settings(TD_0, TC, Budget::Actions(50_000)));
        for (threads, parallel) in
            [(1, Parallel::LockFree), (2, Parallel::LockFree), (2, Parallel::PrivateHot)]
        {
            if promotion && parallel == Parallel::PrivateHot {
                continue;
            }
            for start in [starts()[4], starts()[5], starts()[6]] {
                let before = bits_of(&network, 0..2);
                let settings = TrainingSettings {
                    start,
                    threads,
                    parallel,
                    ..settings(TD_0, TC, Budget::Actions(50_000))
                };
                let mut trainer = Trainer::new(&network, settings.clone()).expect("a small trainer");
                let last_stage = bits_of(&network, 2..4);
                trainer.run(|_, _| true);
                let numbers = trainer.numbers();
                let touched = |table| network.indices(table).any(|p| numbers.iter().any(|n| n.get(p) != 0.0));
                assert_eq!([0, 1, 2, 3].map(touched), [false, false, true, true], "{settings:?}");
                assert!(before == bits_of(&network, 0..2), "{settings:?}");
                assert!(last_stage != bits_of(&network, 2..4), "the last stage learns: {settings:?}");
            }
        }
    }
}

/// The weights of some tables, as bits.
fn bits_of(network: &Network, tables: std::ops::Range<usize>) -> Vec<u32> {
    tables.flat_map(|table| network.indices(table).map(|p| network.weights()[p].load(Relaxed))).collect()
}

#[test]
fn starts_that_make_no_sense_are_refused() {
    let refused = |spec: NetworkSpec, start| {
        let network = Network::new(spec).expect("a small network");
        let settings = TrainingSettings { start, ..settings(TD_0, TC, Budget::Episodes(1)) };
        Trainer::new(&network, settings).err().map(|error| error.to_string())
    };
    let [carousel, _, restart, _, by_stage, late, _] = starts();
    let within = |first_stage, last_stage| {
        StartSpec::Carousel(Carousel { games_per_stage: 1, kept: 5, first_stage, last_stage, given: false })
    };
    let from_stage = |first| within(first, None);
    let to_stage = |first, last| within(first, Some(last));
    let one_stage = || spec(4, "0123", 12, true);
    let promoted = NetworkSpec { promotion: true, ..staged() };
    for (spec, start, reason) in [
        (one_stage(), carousel, "carousel shaping needs at least two stages"),
        (one_stage(), by_stage, "needs at least two stages"),
        (promoted.clone(), by_stage, "would write to frozen stages"),
        (promoted.clone(), from_stage(2), "would write to frozen stages"),
        (staged(), from_stage(3), "the stage in which the carousel begins does not exist"),
        (staged(), to_stage(1, 0), "an earlier stage than it begins"),
        (staged(), to_stage(0, 3), "the stage in which the carousel ends does not exist"),
    ] {
        let error = refused(spec, start).expect("a refusal");
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(refused(one_stage(), restart), None);
    assert_eq!(refused(promoted.clone(), carousel), None);
    assert_eq!(refused(promoted, late), None);
}
