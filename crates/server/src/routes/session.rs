//! `/api/session`.

use axum::{Json, extract::State, http::request::Parts};
use serde_json::{Value, json};

use crate::{app::App, guard};

/// What the page needs to know first. The token is for this machine only.
pub(crate) async fn session(State(app): State<App>, parts: Parts) -> Json<Value> {
    let is_local = guard::is_local(guard::peer(&parts), &parts.headers);
    let (running, waiting) = app.searches.load();
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "token": is_local.then_some(&app.token),
        "training": is_local && app.trainings.are_possible(),
        "default_model": app.models.default_name(),
        "limits": app.limits,
        "searches": { "running": running, "waiting": waiting },
    }))
}
