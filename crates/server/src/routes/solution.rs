//! `/api/v1/solution`: the exact values of 3×3, computed in the background.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{Response, sse::Event},
};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::{sync::watch, task::spawn_blocking};

use crate::{
    app::App,
    error::{Answer, ApiError},
    events::{self, event},
    exact::Solving,
    extract::Body,
    guard::{Peer, Trusted},
};

/// The current state.
pub(crate) async fn state(State(app): State<App>) -> Answer<Json<Value>> {
    let progress = app.solutions.progress().borrow().clone();
    let known = app.clone();
    let is_solved = spawn_blocking(move || known.solutions.is_solved()).await.map_err(ApiError::internal)?;
    Ok(Json(match progress {
        Solving::At(step, share) => json!({ "state": "solving", "step": step, "share": share }),
        _ if is_solved => json!({ "state": "solved" }),
        _ => json!({ "state": "unsolved" }),
    }))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Starts solving it.
pub(crate) async fn solve(
    State(app): State<App>,
    _: Trusted,
    Body(Nothing {}): Body<Nothing>,
) -> Answer<(StatusCode, Json<Value>)> {
    if !app.solutions.claim() {
        return Err(ApiError::conflict("3×3 is being solved", "its progress is at /api/v1/solution/events"));
    }
    let solving = app.clone();
    spawn_blocking(move || solving.solutions.solve());
    Ok((StatusCode::ACCEPTED, Json(json!({ "state": "solving" }))))
}

/// Streams the progress: events `progress`, then `end`.
pub(crate) async fn events(State(app): State<App>, Peer(peer): Peer) -> Answer<Response> {
    let mut progress = app.solutions.progress();
    progress.mark_changed();
    events::respond(&app, peer, stream::unfold(Some(progress), next))
}

async fn next(
    progress: Option<watch::Receiver<Solving>>,
) -> Option<(Event, Option<watch::Receiver<Solving>>)> {
    let mut progress = progress?;
    progress.changed().await.ok()?;
    let now = progress.borrow_and_update().clone();
    Some(match now {
        Solving::At(step, share) => {
            (event("progress", &json!({ "step": step, "share": share })), Some(progress))
        }
        Solving::Idle => (event("end", &json!({ "error": "3×3 is not being solved" })), None),
        Solving::Ended(error) => (event("end", &json!({ "error": error })), None),
    })
}
