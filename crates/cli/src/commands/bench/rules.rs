//! The speed of the rules.

use std::hint::black_box;

use afterstate_game::{Board, Game, Rules, State, game_rng};
use rand_core::Rng;

use super::{Figure, Unit, median_rates};

/// All four slides of boards from random games, and of the same boards with a 65536 and a 131072.
pub(super) fn slides() -> Vec<Figure> {
    let ordinary = ordinary_states();
    let large: Vec<_> = ordinary.iter().copied().map(with_large_tiles).collect();
    let slide_all = |states: &[State<4>]| {
        for state in states {
            black_box(state.slides());
        }
        4 * states.len() as u64
    };
    let [plain, with_large] = median_rates([&mut || slide_all(&ordinary), &mut || slide_all(&large)]);
    let rate = |key, label, value| Figure::new(key, label, value, Unit::PerSecond);
    vec![
        rate("slides_per_second", "slides, ordinary boards", plain),
        rate("large_tile_slides_per_second", "slides, boards with 65536 and 131072", with_large),
        Figure::new("large_tile_ratio", "… as a share of the ordinary ones", with_large / plain, Unit::Ratio),
    ]
}

/// Whole games of uniformly random legal moves.
pub(super) fn games() -> Vec<Figure> {
    let mut number = 0;
    let mut moves = 0;
    let mut games = 0;
    let [rate] = median_rates([&mut || {
        moves += random_game::<4>(number, |_| {}).moves();
        games += 1;
        number = (number + 1) % 1000;
        1
    }]);
    let moves_per_game = moves as f64 / games as f64;
    let figure = |key, label, value| Figure::new(key, label, value, Unit::PerSecond);
    vec![
        figure("random_games_per_second", "random games", rate),
        figure("random_moves_per_second", "moves in random games", rate * moves_per_game),
    ]
}

/// Plays game `number` with uniformly random legal moves, showing every position.
pub(super) fn random_game<const N: usize>(number: u64, mut show: impl FnMut(&Game<N>)) -> Game<N> {
    let mut game = Game::new(Rules::default(), 1, number);
    let mut choices = game_rng(2, number);
    loop {
        show(&game);
        let slides = game.state().slides();
        let legal = slides.legal;
        if legal.is_empty() {
            return game;
        }
        let k = ((choices.next_u64() >> 32) * legal.len() as u64) >> 32;
        if let Some(slide) = slides.iter().nth(k as usize).map(|(_, slide)| slide) {
            game.advance(slide.afterstate, slide.reward);
        }
    }
}

/// A few thousand positions of random games: they fit in the cache, like the boards of a search.
fn ordinary_states() -> Vec<State<4>> {
    let mut states = Vec::new();
    for number in 0..20 {
        random_game(number, |game| states.push(game.state()));
    }
    states
}

/// The state with its first two tiles replaced by a 131072 and a 65536.
fn with_large_tiles(state: State<4>) -> State<4> {
    let mut exponents: Vec<u8> = state.board().exponents().collect();
    let tiles = exponents.iter_mut().filter(|exponent| **exponent > 0);
    for (tile, large) in tiles.zip([17, 16]) {
        *tile = large;
    }
    State::new(Board::from_exponents(&exponents).expect("small tiles beside the two large ones"))
}
