//! `/api/advise`: what each move is worth. `/move`: the same for programs that ask for the move alone.

use afterstate_game::{AnyBoard, Board, Move, State as GameState};
use afterstate_search::{Advice, best_line};
use axum::{
    Json,
    extract::State,
    http::{HeaderName, header::ACCESS_CONTROL_ALLOW_ORIGIN},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    app::{App, Shared},
    brain::Brain,
    error::Answer,
    exact::{OnSide, Solutions},
    extract::{Either, Parameters, board},
    searches::Stop,
};

/// The most moves of the line that goes with an advice.
const LINE: u32 = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    board: String,
    model: Option<String>,
    search: Option<String>,
}

/// The values of a board's moves.
pub(crate) async fn advise(
    State(app): State<App>,
    Either(question): Either<Question>,
) -> Answer<Json<Value>> {
    answer(app, question).await.map(Json)
}

/// The letter of the best move, or `g` when the game is over. Open to the pages of other sites.
pub(crate) async fn best_move(
    State(app): State<App>,
    Parameters(question): Parameters<Question>,
) -> Answer<([(HeaderName, &'static str); 1], String)> {
    let answer = answer(app, question).await?;
    let letter = answer["best"].as_str().map_or("g", |name| &name[..1]);
    Ok(([(ACCESS_CONTROL_ALLOW_ORIGIN, "*")], letter.to_owned()))
}

async fn answer(app: App, question: Question) -> Answer<Value> {
    let board = board(&question.board)?;
    let search = app.limits.search(question.search.as_deref())?;
    let shared = app.clone();
    let work = move |stop| {
        let brain = Brain::new(&shared, question.model.as_deref(), search)?;
        match board {
            AnyBoard::Four(board) => advise_on(&shared, &brain, board, &stop),
            AnyBoard::Three(board) => advise_on(&shared, &brain, board, &stop),
            AnyBoard::Two(board) => advise_on(&shared, &brain, board, &stop),
        }
    };
    app.searches.run(work).await
}

fn advise_on<const N: usize>(shared: &Shared, brain: &Brain, board: Board<N>, stop: &Stop) -> Answer<Value>
where
    Solutions: OnSide<N>,
{
    let state = GameState::new(board);
    let advice = brain.player::<N>(shared, stop)?.advise(state);
    brain.check(state, &advice)?;
    let mut answer = brain.figures(&advice);
    answer.insert("board".into(), json!(board.to_string()));
    answer.insert("model".into(), json!(brain.model()));
    answer.insert("search".into(), json!(brain.search()));
    answer.insert("line".into(), line(brain, state, &advice));
    Ok(Value::Object(answer))
}

/// How the game goes on.
fn line<const N: usize>(brain: &Brain, state: GameState<N>, advice: &Advice) -> Value {
    let Brain::Network(model, search) = brain else { return json!([]) };
    let first = Advice { plies: advice.plies.min(LINE), ..*advice };
    let line = best_line(model.network.view(), model.rules, search.downgrade, state, &first);
    line.iter().map(|step| json!({ "move": Move::name(step.best), "next": step.next.to_string() })).collect()
}
