//! Accuracy is meaningful: stronger players have a higher one, by the built-in model, in games that the calibration has
//! not seen.

use afterstate_game::{Game, Move, Rules, State, game_rng};
use afterstate_lab::{
    model::Model,
    review::{Accuracy, Reference, judge},
};
use afterstate_search::{Limit, Player};
use rand_core::Rng;

/// The maximum number of positions that are judged: long games are sampled.
const POSITIONS: usize = 120;

/// Only the beginning of longer games is judged.
const MOVES: usize = 3000;

/// Plays a game and judges it.
fn accuracy(
    mut game: Game<4>,
    judge_by: &mut dyn Player<4>,
    reference: Reference,
    mut choose: impl FnMut(State<4>) -> Move,
) -> f64 {
    let mut played = Vec::new();
    while !game.state().is_terminal() && played.len() < MOVES {
        let a = choose(game.state());
        played.push((game.state(), a));
        game.play(a).expect("a legal move");
    }
    let step = played.len().div_ceil(POSITIONS);
    let mut accuracy = Accuracy::default();
    for &(state, a) in played.iter().step_by(step) {
        accuracy.add(&judge(state, a, &judge_by.advise(state), Some(reference)));
    }
    accuracy.percent().expect("moves")
}

#[test]
fn accuracy_grows_with_strength() {
    let model = Model::open(None).expect("the built-in model");
    let player = |plies| {
        let search = model.search(None, Limit::Plies(plies)).expect("a search");
        model.player::<4>(search, 1).expect("a player")
    };
    let reference = model.reference().expect("a network on 4×4");
    let (mut judge_by, mut one) = (player(3), player(1));
    let mut by_chance = |percent: u64, games: u64| {
        let played = (0..games).map(|number| {
            let mut rng = game_rng(percent, number);
            let game = Game::new(Rules::default(), 777, number);
            accuracy(game, &mut *judge_by, reference, |state| {
                let legal: Vec<Move> = state.legal_moves().collect();
                let is_random = rng.next_u64() % 100 < percent;
                let random = legal[(rng.next_u64() % legal.len() as u64) as usize];
                if is_random { random } else { one.advise(state).best().expect("a move") }
            })
        });
        played.sum::<f64>() / games as f64
    };
    let players = [(100, 12), (50, 8), (20, 6), (5, 4), (2, 4), (0, 2)];
    let accuracies = players.map(|(percent, games)| by_chance(percent, games));
    println!("100, 50, 20, 5, 2 and 0% at random: {accuracies:.1?}");
    assert!(accuracies[0] < 20.0 && accuracies[5] > 90.0, "{accuracies:?}");
    assert!(accuracies.is_sorted_by(|a, b| a < b), "{accuracies:?}");

    // The sample game of the page: the first legal move of left, down, right, up.
    let order = [Move::Left, Move::Down, Move::Right, Move::Up];
    let first = |state: State<4>| order.into_iter().find(|a| state.slide(*a).is_some()).expect("a move");
    let example = accuracy(Game::new(Rules::default(), 1, 2048), &mut *judge_by, reference, first);
    assert!(example < 40.0, "{example}");

    // A player that looks three moves ahead, judged by one that looks four.
    let (mut three, mut four) = (player(3), player(4));
    let game = Game::new(Rules::default(), 777, 0);
    let strong = accuracy(game, &mut *four, reference, |state| three.advise(state).best().expect("a move"));
    println!("the example {example:.1}, 3-ply by 4-ply {strong:.1}");
    assert!(strong > 97.0, "{strong}");
}
