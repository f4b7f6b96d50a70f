//! Evaluation of players: the same games for all, results that are stored, steps of the late game.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use afterstate_dcnn::{Architecture, Dcnn, DcnnPlayer, DcnnSpec, Play};
use afterstate_game::{Game, Rules, State, game_rng};
use afterstate_lab::deal::{Dealer, Deck, Part};
use afterstate_lab::evaluate::{
    Contest, Games, KeptGames, KeptHeader, PlayOutcome, Share, Steps, Survival, SurvivalError, Survivor,
    evaluate, evaluate_players, merge, positions_at,
};
use afterstate_lab::log::LogError;
use afterstate_network::{Network, NetworkSpec, Tuples};
use afterstate_search::{Player, PlayerSpec};
use rand_core::Rng;

fn network() -> Network {
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
    let network = Network::new(spec).expect("a small network");
    let mut rng = game_rng(1, 1);
    network.set_table(0, std::iter::from_fn(|| Some((rng.next_u32() >> 20) as f32)));
    network
}

fn games(dealer: &dyn Dealer) -> Games<'_> {
    Games { rules: Rules::default(), seed: 3, dealer }
}

fn play(network: &Network, search: &str, count: u64, threads: usize, collect: Option<Steps>) -> PlayOutcome {
    let (player, deck) = (search.parse().expect("a player"), Deck::new(count));
    let contest = Contest { network, player, endgames: None, games: games(&deck), threads, collect };
    contest.play(|_| true).expect("played to the end")
}

#[test]
fn one_ply_is_greedy_play() {
    let network = network();
    let greedy = evaluate(&network, games(&Deck::new(50)), 2, |_| true).expect("played");
    // Collecting positions uses the general code path.
    let collecting = play(&network, "1ply", 50, 2, Some(Steps::default()));
    assert_eq!(collecting.results, greedy);
    assert_eq!(play(&network, "1ply", 50, 3, None).results, greedy);
}

/// Milestones against games that are followed move by move: the first board with a tile counts, on any number of
/// threads.
#[test]
fn milestones_are_the_first_boards_with_a_tile() {
    let network = network();
    // Such a poor network needs a search to reach several tiles.
    let player: PlayerSpec = "2ply".parse().expect("a player");
    let mut first = std::collections::BTreeMap::<u32, Vec<(f64, f64)>>::new();
    for number in 0..30 {
        let mut game = Game::<4>::new(Rules::default(), 3, number);
        let mut moves = player.player::<4>(network.view(), Rules::default(), 1);
        let mut made = HashSet::new();
        while let Some(best) = moves.advise(game.state()).best() {
            game.play(best);
            for tile in game.state().board().exponents().filter(|&exponent| exponent >= 7) {
                if made.insert(tile) {
                    first.entry(1 << tile).or_default().push((game.score() as f64, game.moves() as f64));
                }
            }
        }
    }
    assert!(first.len() > 1, "{first:?}");
    for threads in [1, 3] {
        let (deck, again) = (Deck::new(30), Deck::new(30));
        let contest = |deck| Contest {
            network: &network,
            player,
            endgames: None,
            games: games(deck),
            threads,
            collect: None,
        };
        let milestones = contest(&deck).milestones(|_| true).expect("played to the end");
        assert_eq!(milestones.len(), first.len());
        for (found, (tile, games)) in milestones.iter().zip(&first) {
            let mean = |of: fn(&(f64, f64)) -> f64| games.iter().map(of).sum::<f64>() / games.len() as f64;
            assert_eq!((found.tile, found.games), (*tile, games.len() as u64));
            assert!((found.score.mean - mean(|game| game.0)).abs() < 1e-6, "{found:?}");
            assert!((found.moves.mean - mean(|game| game.1)).abs() < 1e-6, "{found:?}");
        }
        assert_eq!(contest(&again).milestones(|_| false), None, "stopped");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let network = network();
    for search in ["2ply", "3ply+prune=0.01", "random", "2ply+downgrade=64"] {
        let one = play(&network, search, 12, 1, None);
        assert_eq!(one.results.len(), 12);
        assert!(one.results.iter().any(|result| result.score != one.results[0].score));
        assert_eq!(play(&network, search, 12, 4, None).results, one.results, "{search}");
    }
}

#[test]
fn games_in_step_are_those_that_are_played_alone() {
    let policy = Dcnn::new(DcnnSpec::policy(2, 6).unwrap(), 3);
    let value =
        Dcnn::new(DcnnSpec { architecture: Architecture::Tjwei { first: 3, second: 4 }, tile_values: 16 }, 3);
    for (net, play) in [(&policy, Play::MajorityVote), (&policy, Play::Plain), (&value, Play::Plain)] {
        let alone = |number| {
            let (mut player, mut game) =
                (DcnnPlayer::new(net, play), Game::<4>::new(Rules::default(), 1, number));
            while let Some(best) = player.advise_all(&[game.state()])[0].best() {
                game.play(best);
            }
            (number, game.score(), game.moves())
        };
        let played = HashSet::from([1, 5]);
        let expected: Vec<_> = (0..12).filter(|number| !played.contains(number)).map(alone).collect();
        for threads in [1, 2, 5] {
            let deck = Deck::part(Part::WHOLE, 12, played.clone());
            let games = Games { rules: Rules::default(), seed: 1, dealer: &deck };
            let outcome = evaluate_players(games, threads, || DcnnPlayer::new(net, play), |_| true).unwrap();
            let found = outcome.results.iter().map(|result| (result.game, result.score, result.moves));
            assert!(found.eq(expected.iter().copied()), "{play} on {threads} threads");
        }
    }
}

#[test]
fn search_plays_better() {
    let network = network();
    let mean = |search| {
        let results = play(&network, search, 60, 2, None).results;
        results.iter().map(|result| result.score as f64).sum::<f64>() / 60.0
    };
    let (random, one, two) = (mean("random"), mean("1ply"), mean("3ply"));
    assert!(two > 1.3 * one.max(random), "random {random}, 1-ply {one}, 3-ply {two}");
}

fn header(seed: u64, share: Option<Share>) -> KeptHeader {
    let (model, checksum, search) = ("m".into(), "c".into(), "2ply".into());
    KeptHeader { model, checksum, search, seed, collect: share.map(|_| 512), share }
}

/// The file of a part of twelve games, after `stop_after` games have ended.
fn part_file(directory: &Path, network: &Network, part: &str, stop_after: usize) -> PathBuf {
    let part: Part = part.parse().expect("a part");
    let path = directory.join(format!("part-{}-{}.jsonl", part.index(), part.of()));
    let share = Share { part, games: 12, side: 4 };
    let (mut kept, _) = KeptGames::open(&path, &header(3, Some(share))).expect("a file");
    let deck = Deck::part(part, 12, kept.played());
    let (games, player, collect) = (games(&deck), "2ply".parse().expect("a player"), Steps::to(512).ok());
    let mut ended = 0;
    Contest { network, player, endgames: None, games, threads: 2, collect }.play(|finished| {
        if ended < stop_after {
            kept.add(finished, 2.5).expect("written");
        }
        ended += finished.results.len();
        true
    });
    path
}

#[test]
fn merged_parts_are_the_whole() {
    let (network, folder) = (network(), tempfile::tempdir().expect("a directory"));
    let whole = play(&network, "2ply", 12, 2, Steps::to(512).ok());
    for parts in [1, 2, 3, 5, 12] {
        let file = |index| part_file(folder.path(), &network, &format!("{index}/{parts}"), 12);
        // In no order.
        let files: Vec<_> = (1..=parts).rev().map(file).collect();
        let merged = merge(&files).expect("all parts");
        assert_eq!((&merged.outcome.results, merged.side), (&whole.results, 4), "{parts} parts");
        assert_eq!(merged.outcome.positions, whole.positions);
        assert_eq!(merged.seconds, 2.5 * parts as f64);
    }
}

#[test]
fn parts_that_do_not_belong_together_are_refused_by_name() {
    let (network, folder) = (network(), tempfile::tempdir().expect("a directory"));
    let directory = folder.path();
    let [one, two, three] = ["1/3", "2/3", "3/3"].map(|part| part_file(directory, &network, part, 12));
    let refused = |files: &[&Path], words: &[&str]| {
        let files: Vec<_> = files.iter().map(|path| path.to_path_buf()).collect();
        let error = merge(&files).expect_err("no whole").to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let copy = directory.join("copy.jsonl");
    fs::copy(&two, &copy).expect("a copy");
    refused(&[&one, &three], &["no file holds part 2/3"]);
    refused(&[&one, &two, &three, &copy], &["part-2-3.jsonl", "copy.jsonl", "both part 2/3"]);
    let of_two = part_file(directory, &network, "1/2", 12);
    refused(&[&two, &of_two, &three], &["part-1-2.jsonl", "number of parts is 2, not 3"]);

    let text = fs::read_to_string(&two).expect("text");
    // A crash in the middle of the last line, and a file without its last game.
    fs::write(&copy, &text[..text.len() - 20]).expect("a file");
    refused(&[&one, &copy, &three], &["copy.jsonl", "1 of its 4 games are missing"]);
    let unfinished = directory.join("unfinished");
    fs::create_dir(&unfinished).expect("a directory");
    let unfinished = part_file(&unfinished, &network, "2/3", 2);
    refused(&[&one, &unfinished, &three], &["unfinished", "part-2-3.jsonl", "2 of its 4 games are missing"]);
    // A changed score, and another model.
    fs::write(&copy, text.replacen("\"score\":", "\"score\":1", 1)).expect("a file");
    refused(&[&one, &copy, &three], &["copy.jsonl", "damaged"]);
    let share = Share { part: "2/3".parse().expect("a part"), games: 12, side: 4 };
    fs::remove_file(&copy).expect("removed");
    let other = KeptHeader { checksum: "d".into(), ..header(3, Some(share)) };
    KeptGames::open(&copy, &other).expect("a file");
    refused(&[&one, &copy, &three], &["copy.jsonl", "checksum d, not of checksum c"]);
    let whole = directory.join("whole.jsonl");
    KeptGames::open(&whole, &header(3, None)).expect("a file");
    refused(&[&one, &whole, &three], &["whole.jsonl", "not made with --part"]);
    refused(&[&one, &directory.join("none.jsonl"), &three], &["none.jsonl"]);
}

#[test]
fn kept_games_are_not_played_again() {
    let network = network();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games.jsonl");
    let header = |seed| header(seed, None);
    let whole = play(&network, "2ply", 10, 2, None).results;
    let sitting = |stop_after: usize| {
        let (mut kept, _) = KeptGames::open(&path, &header(3)).expect("a file");
        let (player, before) = ("2ply".parse().expect("a player"), kept.results().len());
        let deck = Deck::part(Part::WHOLE, 10, kept.played());
        let contest = Contest {
            network: &network,
            player,
            endgames: None,
            games: games(&deck),
            threads: 1,
            collect: None,
        };
        let mut ended = 0;
        let outcome = contest.play(|finished| {
            kept.add(finished, 1.5).expect("written");
            ended += finished.results.len();
            ended < stop_after
        });
        (before, outcome.is_some(), kept)
    };
    let (before, finished, _) = sitting(4);
    assert_eq!((before, finished), (0, false));
    let (before, finished, kept) = sitting(100);
    assert!((4..=6).contains(&before) && finished, "{before} games were kept");
    let mut results = kept.results().to_vec();
    results.sort_unstable_by_key(|result| result.game);
    assert_eq!((results, kept.seconds()), (whole, 1.5));
    drop(kept);
    assert!(matches!(KeptGames::open(&path, &header(4)), Err(LogError::Other { .. })));
}

#[test]
fn survival_is_the_share_that_reaches_the_next_step() {
    let network = network();
    let steps = Steps::to(512).expect("a goal");
    let collected = play(&network, "2ply", 60, 2, Some(steps));
    let at = |step| collected.positions.iter().filter(|position| position.step == step).count();
    // A board at a later step was at the first one.
    assert!(at(128) > 40 && at(256) > 0 && at(128) >= at(256), "{} and {}", at(128), at(256));
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("positions.jsonl");
    let line = |position| serde_json::to_string(position).expect("JSON") + "\n";
    fs::write(&path, collected.positions.iter().map(line).collect::<String>()).expect("a file");

    let starts: Vec<State<4>> = positions_at(&path, 128).expect("positions");
    assert_eq!(starts.len(), at(128));
    assert!(starts.iter().all(|state| state.board().max_tile() == 128));
    let survive = |search: &str, threads, to| {
        let player: PlayerSpec = search.parse().expect("a player");
        let survivor =
            Survivor { network: &network, player, endgames: None, rules: Rules::default(), seed: 1, threads };
        let survival = survivor.play(steps, (128, to), &starts, 200, |_| true);
        // The duration of moves is not guaranteed, only that a search takes some time.
        let times = survival.move_ms.expect("times of moves");
        assert!(times.mean <= times.max && (search == "random" || times.mean > 0.0), "{search}: {times:?}");
        Survival { move_ms: None, ..survival }
    };
    let good = survive("2ply", 1, 256);
    assert_eq!((good.from, good.to, good.games), (128, 256, 200));
    assert_eq!(survive("2ply", 3, 256), good);
    assert!(good.share() > survive("random", 2, 256).share() && good.share() < 1.0, "{good:?}");
    assert!(good.reached > survive("2ply", 1, 384).reached, "further on is harder");
    assert!(matches!(positions_at::<4>(&path, 4), Err(SurvivalError::NoPositions { .. })));
    assert!(matches!(steps.end(100, None), Err(SurvivalError::Step { .. })));
}
