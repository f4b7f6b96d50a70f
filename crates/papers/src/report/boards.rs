//! Games played by the model of a run, encoded compactly for a page.

use afterstate_game::{Game, Rules};
use afterstate_network::Values;
use afterstate_search::{Limit, PlayerSpec};
use serde::Serialize;

use super::Series;
use afterstate_lab::{
    evaluate::SEED,
    model::{Kind, Model, ModelError, Search},
    run,
};

/// The maximum number of boards on a page.
pub const BOARDS: usize = 6;

/// The letters for a move and the cell of the new tile.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// The prefix of a step whose new tile is a 4.
const FOUR: char = '!';

/// A game that a page can show.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Recorded {
    /// Its number.
    pub game: u64,
    /// The side of the board.
    pub side: usize,
    /// The exponents at the start, row by row.
    pub start: Vec<u8>,
    /// Its steps: a letter for each, which encodes move + 4 · cell of the new tile, prefixed by `!` for a 4.
    pub steps: String,
    /// The exponents at the end.
    pub end: Vec<u8>,
    /// The score.
    pub score: u64,
    /// The number of moves.
    pub moves: u64,
}

/// Lets the model of the first run of a series play this many games, greedily or by its votes.
///
/// # Errors
/// The reason in words, if it cannot.
pub fn record(series: &Series, games: u64) -> Result<Vec<Recorded>, String> {
    let needs = run::MemoryPlan::of(&series.recipe).map_err(|error| error.to_string())?;
    if needs.available.is_some_and(|available| needs.model_bytes > available) {
        return Err("its network is larger than the memory there is".to_owned());
    }
    if series.recipe.network.values != Values::Afterstates {
        return Err(format!("it has values of {}, not of afterstates", series.recipe.network.values));
    }
    let member = series.members.first().ok_or("there is no run")?;
    let model = Model::open_unfolded(Some(&member.directory.model())).map_err(|error| error.to_string())?;
    let rules = series.recipe.game.rules();
    let all = (0..games).map(|number| match series.recipe.game.side {
        4 => play::<4>(&model, rules, number),
        3 => play::<3>(&model, rules, number),
        _ => play::<2>(&model, rules, number),
    });
    all.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn play<const N: usize>(model: &Model, rules: Rules, number: u64) -> Result<Recorded, ModelError> {
    let greedy = Limit::Plies(1);
    let search = match model.kind {
        // Whatever its evaluations downgrade.
        Kind::Network(_) => Search::Player(PlayerSpec::new(greedy)),
        _ => model.search(None, greedy)?,
    };
    let mut player = model.player::<N>(search, 1)?;
    let mut game = Game::<N>::new(rules, SEED, number);
    let cells = |game: &Game<N>| game.state().board().exponents().collect::<Vec<u8>>();
    let (start, mut steps) = (cells(&game), String::new());
    while let Some(best) = player.advise(game.state()).best() {
        let Some(slide) = game.play(best) else { break };
        let now = cells(&game);
        let before = slide.afterstate.board();
        let cell = before.exponents().zip(&now).position(|(before, now)| before != *now).unwrap_or_default();
        if now[cell] == 2 {
            steps.push(FOUR);
        }
        steps.push(char::from(LETTERS[best as usize + 4 * cell]));
    }
    Ok(Recorded {
        game: number,
        side: N,
        start,
        steps,
        end: cells(&game),
        score: game.score(),
        moves: game.moves(),
    })
}
