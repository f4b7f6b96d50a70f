//! The positions that a training begins with: `start.positions`.

use std::path::Path;

use afterstate_game::State;

use super::RunError;
use crate::{
    evaluate::Position,
    log::read_lines,
    recipe::{Recipe, Start},
};

/// The positions of the recipe's file, none where it names no file.
pub(super) fn positions(recipe: &Recipe) -> Result<Vec<String>, RunError> {
    let Start::Carousel { positions, first_stage, .. } = &recipe.start else { return Ok(Vec::new()) };
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let problem = |problem| RunError::Positions { path: positions.into(), problem };
    let read: Vec<Position> = read_lines(Path::new(positions)).map_err(|e| problem(e.to_string()))?;
    let stages = recipe.network.spec(recipe.game.side)?.stages;
    let mut of_first_stage = 0;
    for Position { board, .. } in &read {
        let bytes = match recipe.game.side {
            4 => going_on::<4>(board),
            3 => going_on::<3>(board),
            _ => going_on::<2>(board),
        };
        let bytes = bytes.map_err(|reason| problem(format!("`{board}` is no position: {reason}")))?;
        of_first_stage += usize::from(stages.of(&bytes) == *first_stage);
    }
    match (read.len(), of_first_stage) {
        (0, _) => Err(problem("there is no such file, or no position in it".to_owned())),
        (_, 0) if *first_stage > 0 => Err(problem(format!("none is of stage {first_stage}"))),
        _ => Ok(read.into_iter().map(|position| position.board).collect()),
    }
}

/// The bytes of a state that a game can continue from.
fn going_on<const N: usize>(board: &str) -> Result<[u8; 16], String> {
    let state: State<N> = board.parse().map_err(|error: afterstate_game::ParseError| error.to_string())?;
    if state.is_terminal() { Err("the game is over".to_owned()) } else { Ok(state.board().bytes()) }
}
