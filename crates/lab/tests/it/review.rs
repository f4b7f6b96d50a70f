//! What an accuracy says: stronger players have a higher one, by the built-in model, in games that the calibration has not
//! seen.

use afterstate_game::{Game, Move, Rules, State, game_rng};
use afterstate_lab::{
    model::Model,
    review::{Accuracy, Reference, judge},
};
use afterstate_search::{Limit, Player};
use rand_core::Rng;

/// Positions that are judged, at most: long games are looked at in places.
const POSITIONS: usize = 120;

/// Plays a game and judges it at 3 plies.
fn accuracy(
    number: u64,
    judge_by: &mut dyn Player<4>,
    reference: Reference,
    mut choose: impl FnMut(State<4>) -> Move,
) -> f64 {
    let mut game = Game::<4>::new(Rules::default(), 777, number);
    let mut played = Vec::new();
    while !game.state().is_terminal() && played.len() < 3000 {
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
    let (mut judge_by, mut one, mut two) = (player(3), player(1), player(2));
    let mean = |games: &[f64]| games.iter().sum::<f64>() / games.len() as f64;
    let mut by_chance = |percent: u64, games: u64, judge_by: &mut dyn Player<4>| {
        let played: Vec<f64> = (0..games)
            .map(|number| {
                let mut rng = game_rng(percent, number);
                accuracy(number, judge_by, reference, |state| {
                    let legal: Vec<Move> = state.legal_moves().collect();
                    let is_random = rng.next_u64() % 100 < percent;
                    let random = legal[(rng.next_u64() % legal.len() as u64) as usize];
                    if is_random { random } else { one.advise(state).best().expect("a move") }
                })
            })
            .collect();
        mean(&played)
    };
    let [random, fifth, twentieth, greedy] =
        [(100, 10), (20, 6), (5, 4), (0, 3)].map(|(percent, games)| by_chance(percent, games, &mut judge_by));
    let order = [Move::Left, Move::Down, Move::Right, Move::Up];
    let first = |state: State<4>| order.into_iter().find(|a| state.slide(*a).is_some()).expect("a move");
    // The example of the page.
    let mut game = Game::<4>::new(Rules::default(), 1, 2048);
    let mut example = Accuracy::default();
    while !game.state().is_terminal() {
        let a = first(game.state());
        example.add(&judge(game.state(), a, &judge_by.advise(game.state()), Some(reference)));
        game.play(a);
    }
    let example = example.percent().expect("moves");
    let deeper =
        mean(&[accuracy(0, &mut *judge_by, reference, |state| two.advise(state).best().expect("a move"))]);
    println!(
        "random {random:.1}, example {example:.1}, 20% {fifth:.1}, 5% {twentieth:.1}, 1ply {greedy:.1}, 2ply {deeper:.1}"
    );
    assert!(random < 20.0 && example < 40.0 && greedy > 90.0 && deeper > 90.0);
    assert!(random < fifth && fifth < twentieth && twentieth < greedy);
}
