//! `/api/v1/review`: the review of a game.

use std::{
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use afterstate_game::{Game, Move, Rules};
use afterstate_lab::review::{self, AnyGame, Format, Grade, Played, Regret, Summary, TextError};
use afterstate_search::Limit;
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header::ACCEPT},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::game;
use crate::{
    app::{App, Shared},
    brain::Brain,
    error::{Answer, ApiError},
    events::{self, event},
    extract::Body,
    guard::Peer,
    searches::{self, Class, Stop},
};

/// The time limit of a review.
const LONGEST: Duration = Duration::from_secs(60);

/// The number of worst moves that are listed.
const WORST: usize = 10;

/// The interval of progress reports.
const PROGRESS: Duration = Duration::from_millis(100);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reviewed {
    text: String,
    model: Option<String>,
    search: Option<String>,
}

impl From<TextError> for ApiError {
    fn from(error: TextError) -> Self {
        let status = match error {
            TextError::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        };
        ApiError::new(status, &error, error.hint())
    }
}

/// Grades the moves of a game: at once, or with progress for clients that accept events.
pub(crate) async fn review(
    State(app): State<App>,
    Peer(peer): Peer,
    headers: HeaderMap,
    Body(wanted): Body<Reviewed>,
) -> Answer<Response> {
    let search = app.limits.search(wanted.search.as_deref())?;
    let (format, game) = review::parse(&wanted.text, app.limits.max_review_moves)?;
    let brain = Brain::load(&app, wanted.model, search).await?;
    let count = match &game {
        AnyGame::Four(played) => played.len(),
        AnyGame::Three(played) => played.len(),
        AnyGame::Two(played) => played.len(),
    };
    check_values(&brain)?;
    check_time(&brain, count)?;
    let (sender, receiver) = mpsc::channel(4);
    let shared = app.clone();
    let work = move |stop: Stop| {
        let judge = Judge { shared: &shared, brain: &brain, stop: &stop, format, told: &sender };
        match game {
            AnyGame::Two(played) => judge.judge(&played),
            AnyGame::Three(played) => judge.judge(&played),
            AnyGame::Four(played) => judge.judge(&played),
        }
    };
    let accepts_events = headers
        .get(ACCEPT)
        .is_some_and(|accept| accept.to_str().is_ok_and(|accept| accept.contains("text/event-stream")));
    if !accepts_events {
        let answer = app.searches.run_for(LONGEST, peer, Class::Long, work).await?;
        return Ok(Json(answer).into_response());
    }
    let open = app.clone();
    let judged = async move {
        match open.searches.run_for(LONGEST, peer, Class::Long, work).await {
            Ok(result) => event("result", &result),
            Err(error) => events::error(&error),
        }
    };
    let progress = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
    events::respond(&app, peer, stream::select(progress, stream::once(judged)))
}

/// The parameters of a review.
struct Judge<'a> {
    shared: &'a Shared,
    brain: &'a Brain,
    stop: &'a Stop,
    format: Format,
    told: &'a mpsc::Sender<axum::response::sse::Event>,
}

impl Judge<'_> {
    /// The moves of a game with their grades, and the summary of the game.
    fn judge<const N: usize>(&self, played: &[Played<N>]) -> Answer<Value> {
        let Judge { shared, brain, stop, format, told } = *self;
        let reference = brain.model.reference();
        let mut player = brain.player::<N>(shared, stop)?;
        let (mut moves, mut summary, mut score, mut largest) = (Vec::new(), Summary::default(), 0, 0);
        let mut last_told = Instant::now();
        for Played { state, a, next } in played {
            if stop.load(Relaxed) {
                return Err(searches::too_long(LONGEST));
            }
            if last_told.elapsed() >= PROGRESS {
                last_told = Instant::now();
                // A slow client misses some.
                let _ =
                    told.try_send(event("progress", &json!({ "moves": moves.len(), "of": played.len() })));
            }
            let advice = player.advise(*state);
            brain.check(shared, *state, &advice)?;
            let Some(slide) = state.slide(*a) else { continue };
            let judged = review::judge(*state, *a, &advice, reference);
            let judged = judged.with_regret(Regret::of(&brain.endgames(*state), *a));
            summary.add(&judged);
            score += u64::from(slide.reward);
            let after = next.map_or(slide.afterstate.board(), |next| next.board());
            largest = largest.max(after.max_tile());
            let mut entry = json!(advice);
            entry["board"] = json!(state.to_string());
            entry["played"] = json!(a.name());
            entry["loss"] = json!(judged.loss);
            entry["grade"] = json!(judged.grade);
            entry["kept"] = json!(judged.kept);
            entry["lost"] = json!(judged.lost);
            entry["chance"] = json!(judged.chance);
            if let Some(regret) = &judged.regret {
                entry["endgame"] = json!(regret);
            }
            entry["spawn"] = json!(next.map(|next| game::spawn(slide.afterstate.board(), next.board())));
            moves.push(entry);
        }
        let grades: Map<_, _> = Grade::ALL
            .iter()
            .map(|grade| (grade.name().to_owned(), json!(summary.grades[*grade as usize])))
            .collect();
        let last = played.last().and_then(|played| played.next).map(|state| state.to_string());
        Ok(json!({
            "side": N,
            "format": format.name(),
            "model": brain.model.name,
            "search": brain.search.to_string(),
            "moves": moves,
            "last": last,
            "accuracy": summary.accuracy.percent(),
            "grades": grades,
            "worst": summary.worst(WORST),
            "exact_moves": summary.exact_moves,
            "regret": summary.regret,
            "score": score,
            "tile": largest,
        }))
    }
}

/// Rejects a policy, whose probabilities do not say what a move loses.
fn check_values(brain: &Brain) -> Answer<()> {
    if !brain.model.is_policy() {
        return Ok(());
    }
    let error =
        format!("a review needs the values of moves, but {} has their probabilities", brain.model.name);
    let hint = "choose a model whose `network` is not `policy`; /api/v1/models lists them";
    Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint))
}

/// Rejects in advance what would take too long.
fn check_time(brain: &Brain, moves: usize) -> Answer<()> {
    let Some(settings) = brain.search.spec().and_then(|spec| spec.search) else { return Ok(()) };
    match settings.limit {
        Limit::Time(time) if time.mul_f64(moves as f64) > LONGEST => {
            let error = format!("{moves} moves would take {:.0} s", time.as_secs_f64() * moves as f64);
            let hint =
                format!("take 2ply or 3ply, or less time for each move: {} s in all", LONGEST.as_secs());
            Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, error, hint))
        }
        _ => Ok(()),
    }
}

/// A sample game: left, down, right, up, the first one that is legal.
pub(crate) async fn example() -> Json<Value> {
    let mut game = Game::<4>::new(Rules::default(), 1, 2048);
    let mut text = String::from("afterstate game 1 2048 4\n");
    let order = [Move::Left, Move::Down, Move::Right, Move::Up];
    while let Some(a) = order.into_iter().find(|a| game.play(*a).is_some()) {
        text.push_str(&a.name()[..1]);
    }
    Json(json!({ "text": text + "\n" }))
}
