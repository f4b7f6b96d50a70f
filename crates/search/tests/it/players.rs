//! Players: time, options, tile-downgrading, random play, and their text forms.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use crate::common::{network, states};
use afterstate_game::{Rules, State};
use afterstate_search::{Advice, Downgrade, Limit, Player, PlayerSpec, Random, SpecError, best_line};

fn player<'a>(network: &'a afterstate_network::Network, text: &str) -> Box<dyn Player<4> + 'a> {
    let spec: PlayerSpec = text.parse().expect("a player");
    spec.player(network.view(), Rules::default(), 1)
}

#[test]
fn the_clock_is_kept_and_the_last_finished_depth_counts() {
    let network = network(4);
    for threads in [1, 2] {
        let spec: PlayerSpec = "5ms".parse().expect("a player");
        let mut timed = spec.player::<4>(network.view(), Rules::default(), threads);
        let fixed = ["1ply", "2ply", "3ply", "4ply+fours=1", "5ply+fours=2", "6ply+fours=2"];
        let mut fixed: Vec<_> = fixed.map(|text| player(&network, text)).into();
        let mut times = Vec::new();
        for state in states::<4>(60) {
            let start = Instant::now();
            let advice = timed.advise(state);
            times.push(start.elapsed());
            assert!(advice.plies >= 1);
            if let Some(fixed) = fixed.get_mut(advice.plies as usize - 1) {
                assert_eq!(advice.values, fixed.advise(state).values, "{state}");
            }
        }
        // A busy machine may take the processor away for any time: the fastest moves show whether there is
        // a clock.
        times.sort_unstable();
        assert!(
            times[6] < Duration::from_millis(15),
            "90% of the moves took {:?} and more, not 5 ms",
            times[6]
        );
    }
}

#[test]
fn a_forced_move_takes_no_time() {
    let network = network(4);
    let state: State<4> = "0000/0000/1357/2468".parse().expect("a board");
    assert_eq!(state.legal_moves().count(), 1);
    let advice = player(&network, "10s").advise(state);
    assert!(advice.time < Duration::from_secs(1) && advice.best().is_some());
}

#[test]
fn over_is_over() {
    let network = network(4);
    let state: State<4> = "1212/2121/1212/2121".parse().expect("a board");
    for text in ["1ply", "3ply", "1ms", "random", "2ply+downgrade"] {
        let advice = player(&network, text).advise(state);
        assert_eq!((advice.best(), advice.value(), advice.values), (None, 0.0, [None; 4]), "{text}");
    }
}

#[test]
fn options_reduce_to_plain_searches() {
    let network = network(4);
    let values = |text: &str, states: &[State<4>]| -> Vec<[Option<f32>; 4]> {
        let mut player = player(&network, text);
        states.iter().map(|&state| player.advise(state).values).collect()
    };
    let states = states::<4>(200);
    let exact = values("3ply", &states);
    assert_eq!(values("3ply+prune=0", &states), exact);
    assert_eq!(values("3ply+prune=1", &states), values("2ply", &states));
    assert_ne!(values("3ply+prune=0.02", &states), exact);
    let easy: Vec<_> = states.iter().copied().filter(|state| state.board().empty_count() >= 5).collect();
    assert_eq!(values("3ply+shallow=5", &easy), values("2ply", &easy));
    let hard: Vec<_> = states.iter().copied().filter(|state| state.board().empty_count() < 5).collect();
    assert_eq!(values("3ply+shallow=5", &hard), values("3ply", &hard));
    assert!(easy.len() > 20 && hard.len() > 20);
}

#[test]
fn what_was_searched_before_changes_nothing() {
    let network = network(4);
    for text in ["3ply", "3ply+prune=0.01", "4ply+deeper+prune=0.01"] {
        let mut experienced = player(&network, text);
        for state in states::<4>(40) {
            let fresh = player(&network, text).advise(state);
            assert_eq!(experienced.advise(state).values, fresh.values, "{text} {state}");
        }
    }
}

#[test]
fn downgrading_halves_what_is_above_the_largest_missing_tile() {
    let state: State<4> = "f000/eb00/d910/7654".parse().expect("a board");
    let downgrade = |state: State<4>| Downgrade::PAPER.apply(state).to_string();
    // 4096 is missing: 8192, 16384 and 32768 are halved.
    assert_eq!(downgrade(state), "e000/db00/c910/7654");
    // No tile is missing, and none is large enough.
    for text in ["fedc/ba98/7654/3210", "e000/0000/0000/0000"] {
        assert_eq!(downgrade(text.parse().expect("a board")), text);
    }
    // Repeatedly, as long as there is a tile of 32768 or above, and something is missing.
    assert_eq!(downgrade("h100/0000/0000/0000".parse().expect("a board")), "e100/0000/0000/0000");
    assert_eq!(downgrade("gedc/ba98/7654/3210".parse().expect("a board")), "fedc/ba98/7654/3210");
    // The paper's single step.
    let once: Downgrade = "32768-once".parse().expect("such boards");
    for (board, seen) in [
        ("h100/0000/0000/0000", "g100/0000/0000/0000"),
        ("gedc/ba98/7654/3210", "fedc/ba98/7654/3210"),
        ("f000/eb00/d910/7654", "e000/db00/c910/7654"),
        ("e000/0000/0000/0000", "e000/0000/0000/0000"),
    ] {
        assert_eq!(once.apply(board.parse::<State<4>>().expect("a board")).to_string(), seen, "{board}");
    }
    for text in ["32768-once", "16384..28672-once", "16384"] {
        assert_eq!(text.parse::<Downgrade>().expect("such boards").to_string(), text);
    }
    assert!("off-once".parse::<Downgrade>().is_err());
    let network = network(4);
    let mut players = [player(&network, "2ply"), player(&network, "2ply+downgrade=2048")];
    for state in states::<4>(300) {
        let [all, large] = [4, 11].map(|exponent| Downgrade::from_exponent(exponent).apply(state));
        assert_eq!(all.legal_moves(), state.legal_moves(), "{state}");
        let [plain, downgrading] = &mut players;
        assert_eq!(downgrading.advise(state).values, plain.advise(large).values);
    }
}

/// Until the large tiles reach a sum, where the second of two equal tiles counts as the next smaller one; then not
/// before the tile that the sum leads to.
#[test]
fn the_last_part_of_the_way_to_a_tile_is_seen_as_it_is() {
    let downgrade: Downgrade = "16384..28672".parse().expect("such boards");
    for (board, seen) in [
        ("d000/0000/0000/0021", "d000/0000/0000/0021"),
        ("e000/0000/0000/0021", "d000/0000/0000/0021"),
        ("ed00/0000/0000/0021", "dc00/0000/0000/0021"),
        ("edc0/0000/0000/0021", "edc0/0000/0000/0021"),
        ("edd0/0000/0000/0021", "edd0/0000/0000/0021"),
        ("ee00/0000/0000/0021", "dd00/0000/0000/0021"),
        ("eec0/0000/0000/0021", "eec0/0000/0000/0021"),
        ("f000/0000/0000/0021", "d000/0000/0000/0021"),
        ("fdc0/0000/0000/0021", "edc0/0000/0000/0021"),
        ("fedc/0000/0000/0021", "edcb/0000/0000/0021"),
        ("g000/0000/0000/0021", "d000/0000/0000/0021"),
    ] {
        assert_eq!(downgrade.apply(board.parse::<State<4>>().expect("a board")).to_string(), seen, "{board}");
    }
    for text in ["off", "16384", "16384..28672", "4..8", "131072"] {
        assert_eq!(text.parse::<Downgrade>().expect("such boards").to_string(), text);
    }
    for text in [
        "",
        "2",
        "100",
        "262144",
        "16384..",
        "16384..16384",
        "16384..8192",
        "16384..28673",
        "..28672",
        "1..2..3",
    ] {
        let error = text.parse::<Downgrade>().expect_err("no boards").to_string();
        assert!(error.contains(&format!("`{text}`")), "{error}");
    }
}

#[test]
fn random_play_is_legal_and_takes_all_moves() {
    let mut counts = [0; 4];
    for state in states::<4>(2000) {
        if let Some(best) = Random.advise(state).best() {
            assert!(state.legal_moves().contains(best));
            counts[best as usize] += u32::from(state.legal_moves().count() == 4);
        }
    }
    let total: u32 = counts.iter().sum();
    assert!(counts.iter().all(|&count| count * 5 > total && count * 3 < total), "{counts:?}");
}

#[test]
fn the_best_line_begins_with_the_best_move() {
    let network = network(4);
    let state: State<4> = "0123/1235/0135/0001".parse().expect("a board");
    let best = |text: &str, state| -> Advice { player(&network, text).advise(state) };
    let line = best_line(network.view(), Rules::default(), None, state, &best("3ply", state));
    assert_eq!(line.len(), 3);
    assert_eq!(Some(line[0].best), best("3ply", state).best());
    assert_eq!(Some(line[1].best), best("2ply", line[0].next).best());
    assert_eq!(Some(line[2].best), best("1ply", line[1].next).best());
}

#[test]
fn a_search_that_is_stopped_has_the_values_of_greedy_play() {
    let network = network(4);
    let state: State<4> = "0010/0000/0100/0000".parse().expect("a board");
    let greedy = player(&network, "1ply").advise(state);
    for threads in [1, 2] {
        let stop = Arc::new(AtomicBool::new(false));
        let deep: PlayerSpec = "12ply".parse().expect("a search");
        let mut deep = deep.player_with::<4>(network.view(), Rules::default(), threads, |search| {
            search.with_stop(stop.clone())
        });
        let advice = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                stop.store(true, Relaxed);
            });
            deep.advise(state)
        });
        assert_eq!((advice.values, advice.plies), (greedy.values, 1));
        stop.store(false, Relaxed);
        let spec: PlayerSpec = "3ply".parse().expect("a search");
        let mut whole =
            spec.player_with::<4>(network.view(), Rules::default(), threads, |search| search.with_stop(stop));
        assert_eq!(whole.advise(state).values, player(&network, "3ply").advise(state).values);
    }
}

#[test]
fn what_is_said_of_downgrading_counts_more_than_what_a_model_asks_for() {
    let asked = |text: &str| {
        text.parse::<PlayerSpec>()
            .expect("a player")
            .or_downgraded(Some(Downgrade::from_exponent(14)))
            .to_string()
    };
    assert_eq!(asked("1ply"), "1ply+downgrade=16384");
    assert_eq!(asked("3ply"), "3ply+downgrade=16384");
    assert_eq!(asked("10ms+prune=0.001"), "10ms+prune=0.001+downgrade=16384");
    for text in ["random", "1ply+downgrade=off", "3ply+downgrade=off", "3ply+downgrade=32768"] {
        assert_eq!(asked(text), text);
    }
    assert_eq!("3ply".parse::<PlayerSpec>().map(|spec| spec.or_downgraded(None)), "3ply".parse());
}

#[test]
fn texts_go_there_and_back() {
    for text in [
        "1ply",
        "24ply",
        "10ms",
        "0.5ms",
        "20000nodes",
        "adaptive",
        "adaptive=500+downgrade=off",
        "4ply+fours=1",
        "random",
        "3ply+shallow=5+prune=0.001+deeper+table=off",
        "3ply+table=20+downgrade=32768",
        "random+downgrade=4",
        "3ply+downgrade=off",
    ] {
        assert_eq!(text.parse::<PlayerSpec>().map(|spec| spec.to_string()), Ok(text.to_string()));
    }
    let spec: PlayerSpec = "2s+downgrade".parse().expect("a player");
    assert_eq!(spec.search.map(|search| search.limit), Some(Limit::Time(Duration::from_secs(2))));
    assert_eq!(
        (spec.downgrade, spec.to_string()),
        (Some(Downgrade::PAPER), "2000ms+downgrade=32768".to_string())
    );
    for text in [
        "",
        "0ply",
        "25ply",
        "3",
        "ply",
        "-1ms",
        "NaNms",
        "infs",
        "3 ply",
        "deep",
        "0nodes",
        "-1nodes",
        "nodes",
        "adaptive=",
        "adaptive=x",
    ] {
        assert_eq!(text.parse::<PlayerSpec>(), Err(SpecError::Limit(text.into())));
    }
    for text in ["3ply+", "3ply+x", "3ply+deeper=1", "random+prune=0.1"] {
        assert!(matches!(text.parse::<PlayerSpec>(), Err(SpecError::Option(_))), "{text}");
    }
    for text in [
        "3ply+prune=2",
        "3ply+shallow=16",
        "3ply+table=31",
        "3ply+downgrade=3",
        "3ply+downgrade=of",
        "3ply+prune=x",
        "3ply+fours=7",
    ] {
        assert!(matches!(text.parse::<PlayerSpec>(), Err(SpecError::Value { .. })), "{text}");
    }
}

#[test]
fn values_do_not_depend_on_the_number_of_threads() {
    let network = network(4);
    for text in
        ["5ply+deeper+prune=0.01", "4ply+prune=0.003", "4ply+deeper", "4ply", "4ply+fours=1", "5000nodes"]
    {
        let spec: PlayerSpec = text.parse().expect("a player");
        let advice =
            |threads, state| spec.player::<4>(network.view(), Rules::default(), threads).advise(state);
        for state in states::<4>(6) {
            let one = advice(1, state).values;
            for threads in [2, 3, 2, 3] {
                assert_eq!(advice(threads, state).values, one, "{text} on {state} with {threads} threads");
            }
        }
    }
}

#[test]
fn forgetting_a_large_table_is_not_on_the_clock() {
    let network = network(4);
    let mut player = player(&network, "10ms+deeper+table=23");
    let state: State<4> = "0012/0134/2467/789a".parse().expect("a board");
    player.advise(state);
    let deepest = (0..20).map(|_| player.advise(state).plies).max();
    assert!(deepest >= Some(2), "in 10 ms there is time for a second ply: {deepest:?}");
}

#[test]
fn a_search_by_nodes_depends_on_the_state_alone() {
    let (network, states) = (network(4), states::<4>(40));
    for text in ["3000nodes", "adaptive=3000"] {
        let advise = |order: &mut dyn Iterator<Item = usize>| {
            let mut player = player(&network, text);
            let mut advice: Vec<_> = order.map(|i| (i, player.advise(states[i]))).collect();
            advice.sort_by_key(|(i, _)| *i);
            advice
                .into_iter()
                .map(|(_, advice)| (advice.values, advice.plies, advice.evaluated))
                .collect::<Vec<_>>()
        };
        let forward = advise(&mut (0..states.len()));
        assert_eq!(forward, advise(&mut (0..states.len()).rev()), "{text}");
        let fixed = ["1ply", "2ply", "3ply", "4ply+fours=1", "5ply+fours=2", "6ply+fours=2"];
        for ((values, plies, evaluated), state) in forward.iter().zip(&states) {
            // A node gets all its leaves.
            assert!(*evaluated <= 4 + 2 * 3000 + 64, "{evaluated} nodes on {state}");
            if let Some(fixed) = fixed.get(*plies as usize - 1) {
                assert_eq!(*values, player(&network, fixed).advise(*state).values, "{text} on {state}");
            }
        }
        assert!(forward.iter().any(|(_, plies, _)| *plies >= 3), "{text}");
    }
    let plies =
        |text: &str| states.iter().map(|&state| player(&network, text).advise(state).plies).sum::<u32>();
    assert!(plies("100nodes") < plies("3000nodes") && plies("3000nodes") < plies("50000nodes"));
}
