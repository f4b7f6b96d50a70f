//! `/api/recipes` and `/api/runs`.

use afterstate_lab::recipe::shipped;
use axum::{Json, extract::State};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::{
    app::App,
    error::{Answer, ApiError},
    runs,
};

/// The recipes that come with the program.
pub(crate) async fn recipes() -> Answer<Json<Value>> {
    let describe = || {
        let recipes = shipped().filter_map(|shipped| {
            let recipe = shipped.recipe(&[]).ok()?;
            let (name, table) = (shipped.name, shipped.table);
            Some(json!({
                "name": name,
                "description": recipe.description,
                "table": table,
                "side": recipe.game.side,
                "budget": recipe.budget,
            }))
        });
        recipes.collect::<Vec<_>>()
    };
    let recipes = spawn_blocking(describe).await.map_err(ApiError::internal)?;
    Ok(Json(json!({ "recipes": recipes })))
}

/// The runs in the directory of runs.
pub(crate) async fn runs(State(app): State<App>) -> Answer<Json<Value>> {
    let list = move || runs::list(&app.runs).iter().map(runs::Found::line).collect::<Vec<_>>();
    let runs = spawn_blocking(list).await.map_err(ApiError::internal)?;
    Ok(Json(json!({ "runs": runs })))
}
