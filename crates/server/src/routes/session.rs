//! `/api/v1/session`.

use axum::{Json, extract::State, http::HeaderMap};
use serde_json::{Value, json};

use crate::{app::App, guard};

/// What the page needs first, including whether the token of the request is correct.
pub(crate) async fn session(State(app): State<App>, headers: HeaderMap) -> Json<Value> {
    let is_trusted = guard::is_trusted(&app, &headers);
    let (running, waiting) = app.searches.load();
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "trusted": is_trusted,
        "training": is_trusted && app.trainings.are_possible(),
        "default_model": app.models.default_name(),
        "limits": app.limits,
        "searches": { "running": running, "waiting": waiting },
    }))
}
