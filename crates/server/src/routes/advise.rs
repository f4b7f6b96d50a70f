//! `/api/advise`: what each move is worth.

use afterstate_game::{AnyBoard, Board, Move, State as GameState};
use afterstate_lab::model::Loaded;
use afterstate_search::{Advice, Limit, Player, PlayerSpec, best_line};
use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    app::{App, Shared},
    error::{Answer, ApiError},
    extract::{Either, board},
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
    let board = board(&question.board)?;
    let search = app.limits.search(question.search.as_deref())?;
    let shared = app.clone();
    let work = move |stop| {
        let model = shared.models.get(question.model.as_deref())?;
        let asked = Asked { shared: &shared, model: &model, search, stop };
        match board {
            AnyBoard::Four(board) => asked.advise(board),
            AnyBoard::Three(board) => asked.advise(board),
            AnyBoard::Two(board) => asked.advise(board),
        }
    };
    Ok(Json(app.searches.run(work).await?))
}

/// Who is asked, and how.
pub(crate) struct Asked<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) model: &'a Loaded,
    pub(crate) search: PlayerSpec,
    pub(crate) stop: Stop,
}

impl<'a> Asked<'a> {
    /// The player, if the model is one for such boards.
    pub(crate) fn player<const N: usize>(&self) -> Answer<Box<dyn Player<N> + 'a>> {
        self.model.check_afterstates("the server")?;
        let side = self.model.side();
        if side != N {
            let error = format!("the board is {N}×{N}, but the model plays on {side}×{side}");
            let hint = "give a board or a model that fits the other";
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint));
        }
        let threads = self.shared.searches.threads(&self.search);
        Ok(self.search.stoppable_player(
            self.model.network.view(),
            self.model.rules,
            threads,
            self.stop.clone(),
        ))
    }

    fn advise<const N: usize>(&self, board: Board<N>) -> Answer<Value> {
        let state = GameState::new(board);
        let advice = self.player::<N>()?.advise(state);
        check_depth(&self.search, &advice)?;
        let first = Advice { plies: advice.plies.min(LINE), ..advice };
        let line =
            best_line(self.model.network.view(), self.model.rules, self.search.downgrade, state, &first);
        let line: Vec<_> = line
            .iter()
            .map(|step| json!({ "move": step.best.name(), "next": step.next.to_string() }))
            .collect();
        let mut answer = figures(&advice);
        answer.insert("board".into(), json!(board.to_string()));
        answer.insert("model".into(), json!(self.model.name));
        answer.insert("search".into(), json!(self.search.to_string()));
        answer.insert("line".into(), json!(line));
        Ok(Value::Object(answer))
    }
}

/// A search by depth that was stopped has no answer.
pub(crate) fn check_depth(search: &PlayerSpec, advice: &Advice) -> Answer<()> {
    let asked = search.search.map(|settings| (settings.limit, settings.shallow.is_some()));
    match asked {
        Some((Limit::Plies(plies), shallow)) if advice.plies + u32::from(shallow) < plies => {
            let hint = "look less far ahead, or give a time, such as 1s";
            Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "the search was stopped", hint))
        }
        _ => Ok(()),
    }
}

/// The figures of an advice, as `afterstate advise --json` gives them.
pub(crate) fn figures(advice: &Advice) -> Map<String, Value> {
    let values: Map<_, _> =
        Move::ALL.iter().map(|a| (a.name().to_string(), json!(advice.values[*a as usize]))).collect();
    let figures = json!({
        "values": values,
        "best": advice.best().map(Move::name),
        "expected": advice.value(),
        "plies": advice.plies,
        "evaluated": advice.evaluated,
        "seconds": advice.time.as_secs_f64(),
    });
    match figures {
        Value::Object(figures) => figures,
        _ => Map::new(),
    }
}
