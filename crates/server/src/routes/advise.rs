//! `/api/v1/advise`: the value of each move. `/move`: the best move alone, for simple programs.

use afterstate_game::{AnyBoard, Board, Move, State as GameState};
use afterstate_lab::{
    model::Search,
    review::{self, Chance, Regret},
};
use afterstate_search::{Advice, ByMove};
use axum::{Json, extract::State, http::HeaderMap};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    app::{App, Shared},
    brain::Brain,
    error::{Answer, ApiError},
    exact::TileChances,
    extract::{self, Either, Parameters, board},
    guard::{self, Peer},
    searches::{Class, Stop},
};

/// The maximum number of moves of the best line.
const LINE: u32 = 4;

/// Requests with more boards count as long ones.
const FEW_BOARDS: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    board: Option<String>,
    boards: Option<Vec<String>>,
    model: Option<String>,
    search: Option<String>,
    /// A move on the board to be graded.
    played: Option<String>,
}

/// The values of the moves on one board or on many boards.
pub(crate) async fn advise(
    State(app): State<App>,
    Peer(peer): Peer,
    Either(question): Either<Question>,
) -> Answer<Json<Value>> {
    let search = app.limits.search(question.search.as_deref())?;
    let played = question.played.as_deref().map(extract::slide).transpose()?;
    let brain = Brain::load_in_time(&app, question.model, search).await?;
    let (boards, is_list) = boards(&app, question.board, question.boards)?;
    let class = if boards.len() > FEW_BOARDS { Class::Long } else { Class::of(search) };
    let (shared, limit) = (app.clone(), brain.time_left(&app));
    let work = move |stop: Stop| {
        let answer = |board| -> Answer<Value> {
            // Following optimal play takes a while: done for one board, not for a thousand.
            let is_followed = !is_list && matches!(brain.search, Search::Exact);
            let exact = is_followed.then(|| shared.solutions.tile_chances(&board)).flatten();
            let mut answer = match board {
                AnyBoard::Four(board) => advise_on(&shared, &brain, board, played, &stop),
                AnyBoard::Three(board) => advise_on(&shared, &brain, board, played, &stop),
                AnyBoard::Two(board) => advise_on(&shared, &brain, board, played, &stop),
            }?;
            if let Some(TileChances { chances, is_exact }) = exact {
                add_tiles(chances, if is_exact { "exact" } else { "games" }, &mut answer);
            }
            Ok(answer)
        };
        boards.into_iter().map(answer).collect::<Answer<Vec<Value>>>()
    };
    let mut answers = app.searches.run_for(limit, peer, class, work).await?;
    Ok(Json(if is_list { json!({ "advice": answers }) } else { answers.pop().unwrap_or_default() }))
}

/// The boards of a request, and whether they came as a list.
fn boards(app: &App, one: Option<String>, many: Option<Vec<String>>) -> Answer<(Vec<AnyBoard>, bool)> {
    let most = app.limits.max_boards;
    match (one, many) {
        (Some(text), None) => Ok((vec![board(&text)?], false)),
        (None, Some(texts)) if (1..=most).contains(&texts.len()) => {
            let numbered = (1..).zip(&texts).map(|(number, text)| {
                board(text)
                    .map_err(|error| ApiError::bad(format!("board {number}: {}", error.error), error.hint))
            });
            Ok((numbered.collect::<Answer<_>>()?, true))
        }
        (None, Some(texts)) => {
            Err(ApiError::bad(format!("{} boards", texts.len()), format!("send from 1 to {most} at once")))
        }
        _ => Err(ApiError::bad("one of `board` and `boards` is needed", "send a board, or a list of boards")),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveQuestion {
    board: String,
    model: Option<String>,
    search: Option<String>,
}

/// The letter of the best move, or `g` if the game is over. Open to pages of other sites, within limits.
pub(crate) async fn best_move(
    State(app): State<App>,
    Peer(peer): Peer,
    headers: HeaderMap,
    Parameters(question): Parameters<MoveQuestion>,
) -> Answer<String> {
    let text = question.search.as_deref();
    let (search, class) = if guard::is_foreign(&headers) {
        (app.limits.foreign_search(text)?, Class::Foreign)
    } else {
        let search = app.limits.search(text)?;
        (search, Class::of(search))
    };
    let board = board(&question.board)?;
    let brain = Brain::load_in_time(&app, question.model, search).await?;
    let (shared, limit) = (app.clone(), brain.time_left(&app));
    let work = move |stop: Stop| match board {
        AnyBoard::Four(board) => best_on(&shared, &brain, board, &stop),
        AnyBoard::Three(board) => best_on(&shared, &brain, board, &stop),
        AnyBoard::Two(board) => best_on(&shared, &brain, board, &stop),
    };
    let best = app.searches.run_for(limit, peer, class, work).await?;
    Ok(best.map_or("g", |a| &a.name()[..1]).to_owned())
}

fn best_on<const N: usize>(
    shared: &Shared,
    brain: &Brain,
    board: Board<N>,
    stop: &Stop,
) -> Answer<Option<Move>> {
    let state = GameState::new(board);
    let advice = brain.player::<N>(shared, stop)?.advise(state);
    brain.check(shared, state, &advice)?;
    Ok(advice.best())
}

fn advise_on<const N: usize>(
    shared: &Shared,
    brain: &Brain,
    board: Board<N>,
    played: Option<Move>,
    stop: &Stop,
) -> Answer<Value> {
    let state = GameState::new(board);
    let advice = brain.player::<N>(shared, stop)?.advise(state);
    brain.check(shared, state, &advice)?;
    let mut answer = json!(advice);
    answer["board"] = json!(board.to_string());
    answer["model"] = json!(brain.model.name);
    answer["search"] = json!(brain.search.to_string());
    answer["line"] = line(brain, state, &advice);
    add_chances(brain, state, &advice, &mut answer);
    if let Some(endgame) = endgame(brain, state, &advice) {
        answer["endgame"] = endgame;
    }
    if let Some(a) = played {
        answer["judged"] = judged(brain, state, a, &advice)?;
    }
    Ok(answer)
}

/// The exact chances of the endgame that the board is in, if a table knows them.
fn endgame<const N: usize>(brain: &Brain, state: GameState<N>, advice: &Advice) -> Option<Value> {
    let known = brain.endgames(state).into_iter().next()?;
    let chances = ByMove(known.chances);
    let chosen = advice.best().and_then(|a| known.chances[a as usize]);
    Some(
        json!({ "name": known.table.endgame().words(), "chances": chances, "best": known.best(), "chosen": chosen }),
    )
}

/// Adds the chances of the next tiles, if they are known.
fn add_chances<const N: usize>(brain: &Brain, state: GameState<N>, advice: &Advice, answer: &mut Value) {
    let Some(reference) = brain.model.reference() else { return };
    if let Some(chance) = Chance::of(state, advice, reference) {
        answer["chance"] = json!(chance);
    }
    add_tiles(review::tile_chances(state, advice.value(), reference), "model", answer);
}

/// Adds the chances of tiles, and their source.
fn add_tiles(tiles: Vec<(u32, f64)>, from: &str, answer: &mut Value) {
    if tiles.is_empty() {
        return;
    }
    let tiles: Map<_, _> =
        tiles.into_iter().map(|(tile, chance)| (tile.to_string(), json!(chance))).collect();
    answer["tiles"] = tiles.into();
    answer["tiles_from"] = json!(from);
}

/// A played move, graded as in a review.
fn judged<const N: usize>(brain: &Brain, state: GameState<N>, a: Move, advice: &Advice) -> Answer<Value> {
    if state.slide(a).is_none() {
        return Err(ApiError::bad(
            format!("{a} moves nothing on {state}"),
            "send a move that was played there",
        ));
    }
    if brain.model.is_policy() {
        return Ok(Value::Null);
    }
    let judged = review::judge(state, a, advice, brain.model.reference());
    let judged = judged.with_regret(Regret::of(&brain.endgames(state), a));
    let kept = judged.kept.filter(|_| judged.is_choice);
    Ok(json!({ "loss": judged.loss, "kept": kept, "lost": judged.lost, "grade": judged.grade }))
}

/// How the game continues.
fn line<const N: usize>(brain: &Brain, state: GameState<N>, advice: &Advice) -> Value {
    let first = Advice { plies: advice.plies.min(LINE), ..*advice };
    let line = brain.model.line(brain.search, state, &first);
    line.iter().map(|step| json!({ "move": Move::name(step.best), "next": step.next.to_string() })).collect()
}
