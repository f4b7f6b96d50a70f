//! A scripted game from 2048 to 65536, and what a carousel keeps of it.

use afterstate_game::State;
use afterstate_network::Stages;

use super::{Carousel, Kind, Memory, StartSpec, Starts, locked};

/// The largest tiles of a game, as exponents: a 2048-tile follows a 1024-tile, equal tiles merge pair by pair, and so
/// on up to a 65536-tile.
fn script() -> Vec<Vec<u8>> {
    let (mut tiles, mut boards) = (vec![], vec![vec![10]]);
    while !tiles.contains(&16) {
        tiles.push(11u8);
        boards.push(tiles.clone());
        while let [.., a, b] = tiles[..]
            && a == b
        {
            tiles.truncate(tiles.len() - 2);
            tiles.push(a + 1);
            boards.push(tiles.clone());
        }
    }
    boards
}

/// A state with these tiles in a row, and a 2-tile in the last cell.
fn state(tiles: &[u8]) -> State<4> {
    let digit = |&exponent: &u8| char::from_digit(exponent.into(), 17).expect("an exponent");
    let text: String = tiles.iter().map(digit).chain(['0'; 16]).take(15).chain(['1']).collect();
    text.parse().expect("a board")
}

/// The number of initial states of each stage after the script, beginning with its first board or a later one.
fn kept(stages: &str, from: usize) -> Vec<usize> {
    let stages: Stages = stages.parse().expect("stages");
    let carousel =
        Carousel { games_per_stage: 1, kept: 1000, first_stage: 0, last_stage: None, given: false };
    let starts = Starts::<4>::new(StartSpec::Carousel(carousel), &stages, &[]).expect("starts");
    let mut memory = Memory::new();
    let boards = script();
    starts.begin(&mut memory, state(&boards[from]));
    boards[from + 1..].iter().for_each(|tiles| starts.watch(&mut memory, state(tiles)));
    let Kind::Carousel(_, wheel) = &starts.kind else { unreachable!("a carousel") };
    let state = serde_json::to_value(locked(wheel).state()).expect("JSON");
    let states = state["initial_states"].as_array().expect("a list for each stage");
    states.iter().map(|states| states.as_array().expect("a list").len()).collect()
}

/// The game passes all stages, both by the rule of the author's program and by the paper's for equal tiles, and leaves
/// an initial state in each.
#[test]
fn a_whole_game_leaves_an_initial_state_in_every_stage() {
    for (text, count) in [("2^3-carried", 8), ("2^4-carried", 16), ("2^5-carried", 32), ("2^4", 16)] {
        let mut expected = vec![1; count];
        expected[0] = 0;
        assert_eq!(kept(text, 0), expected, "{text}");
    }
    assert_eq!(kept("16384 16384+8192 32768", 0), [0, 1, 1, 1]);
}

/// An episode that begins in a later stage leaves initial states of the following ones.
#[test]
fn an_episode_of_a_later_stage_leaves_the_stages_that_follow() {
    let stages: Stages = "2^4-carried".parse().expect("stages");
    for first in 1..16 {
        let starts = |tiles: &Vec<u8>| stages.of(&state(tiles).board().bytes()) == first;
        let from = script().iter().position(starts).expect("a stage that the game passes");
        let expected: Vec<usize> = (0..16).map(|stage| usize::from(stage > first)).collect();
        assert_eq!(kept("2^4-carried", from), expected, "from stage {first}");
    }
}

/// A stage that the episode did not reach from the previous one gets no initial state: a game that begins with a
/// 16384-tile leaves none for earlier stages, and none twice.
#[test]
fn stages_are_entered_once_and_in_order() {
    let stages: Stages = "2^4".parse().expect("stages");
    let carousel =
        Carousel { games_per_stage: 1, kept: 1000, first_stage: 0, last_stage: None, given: false };
    let starts = Starts::<4>::new(StartSpec::Carousel(carousel), &stages, &[]).expect("starts");
    let mut memory = Memory::new();
    // From stage 0 to 2, back to 1, to 2 again: only stage 1 was entered from the previous one, then stage 2.
    starts.begin(&mut memory, state(&[11]));
    for tiles in [&[13][..], &[12], &[13], &[12], &[13]] {
        starts.watch(&mut memory, state(tiles));
    }
    let Kind::Carousel(_, wheel) = &starts.kind else { unreachable!("a carousel") };
    let state = serde_json::to_value(locked(wheel).state()).expect("JSON");
    let count = |stage: usize| state["initial_states"][stage].as_array().expect("a list").len();
    assert_eq!([count(1), count(2), count(3)], [1, 1, 0]);
}
