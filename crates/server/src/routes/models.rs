//! `/api/models`.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::{
    app::App,
    error::{Answer, ApiError},
};

/// The models that can be requested.
pub(crate) async fn models(State(app): State<App>) -> Answer<Json<Value>> {
    let models = spawn_blocking(move || app.models.list()).await.map_err(ApiError::internal)?;
    Ok(Json(json!({ "models": models })))
}
