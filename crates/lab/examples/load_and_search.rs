//! Loads a model and searches: the values of the moves on a board, then a hundred moves of a game.
//!
//! `cargo run --release -p afterstate-lab --example load_and_search -- [MODEL] [SEARCH]`

use std::{env, error::Error, path::Path};

use afterstate_game::{Game, Move, Rules, State};
use afterstate_lab::model::Model;
use afterstate_search::Limit;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    // A file, the directory of a run, or a name; without one, the built-in model.
    let model = Model::open(arguments.next().as_deref().map(Path::new))?;
    let search = model.search(arguments.next().as_deref(), Limit::Plies(2))?;
    let mut player = model.player::<4>(search, 1)?;

    let state: State<4> = "0123/1235/0135/0001".parse()?;
    let advice = player.advise(state);
    for (a, value) in Move::ALL.iter().zip(advice.values) {
        println!("{}: {}", a.name(), value.map_or("illegal".into(), |value| format!("{value:.0}")));
    }

    let mut game = Game::<4>::new(Rules::default(), 1, 42);
    for _ in 0..100 {
        let Some(a) = player.advise(game.state()).best() else { break };
        game.play(a);
    }
    println!("{} scores {} in {} moves", model.name, game.score(), game.moves());
    Ok(())
}
