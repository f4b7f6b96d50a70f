//! A numbered game, played by a rule of thumb: down, else left, else right, else up.

use afterstate_game::{Game, Move, Rules};

fn main() {
    let mut game = Game::<4>::new(Rules::default(), 1, 42); // seed 1, game 42: the same tiles for everyone
    let preference = [Move::Down, Move::Left, Move::Right, Move::Up];
    while let Some(a) = preference.into_iter().find(|&a| game.state().slide(a).is_some()) {
        game.play(a).expect("a legal move");
    }
    println!("{}", game.state().board());
    println!(
        "{} points in {} moves, largest tile {}",
        game.score(),
        game.moves(),
        game.state().board().max_tile()
    );
}
