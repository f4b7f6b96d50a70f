//! A player with a custom value function: empty cells are good, and so are neighbours of equal rank.

use afterstate_game::{Afterstate, Game, Move, Rules, State};
use afterstate_search::{Advice, Player};

fn value(afterstate: Afterstate<4>) -> f32 {
    let cells: Vec<i32> = afterstate.board().exponents().map(i32::from).collect();
    let neighbours = (0..16).flat_map(|i| [(i, i + 1, i % 4 < 3), (i, i + 4, i < 12)]);
    let roughness: i32 =
        neighbours.filter(|&(.., inside)| inside).map(|(i, j, _)| (cells[i] - cells[j]).abs()).sum();
    100.0 * afterstate.board().empty_count() as f32 - 10.0 * roughness as f32
}

struct Smooth;

impl Player<4> for Smooth {
    fn advise(&mut self, state: State<4>) -> Advice {
        let slides = state.slides();
        let values =
            Move::ALL.map(|a| slides.get(a).map(|slide| slide.reward as f32 + value(slide.afterstate)));
        Advice { values, plies: 1, ..Advice::default() }
    }
}

fn main() {
    let mut player = Smooth;
    let scores: Vec<u64> = (0..20)
        .map(|number| {
            let mut game = Game::<4>::new(Rules::default(), 1, number);
            while let Some(a) = player.advise(game.state()).best() {
                game.play(a).expect("a legal move");
            }
            game.score()
        })
        .collect();
    println!("mean score of {} games: {}", scores.len(), scores.iter().sum::<u64>() / scores.len() as u64);
}
