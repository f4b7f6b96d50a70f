//! The routes, and what they share.

use std::{
    any::Any,
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    handler::Handler,
    http::{Method, StatusCode},
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodFilter, MethodRouter, on},
};
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    error::ApiError,
    exact::Solutions,
    extract::MAX_BODY,
    guard::{self, Hosts},
    models::Models,
    page, routes,
    searches::{Limits, Searches},
    training::Trainings,
};

/// What the requests share.
pub(crate) struct Shared {
    pub(crate) hosts: Hosts,
    pub(crate) token: String,
    pub(crate) limits: Limits,
    pub(crate) searches: Searches,
    pub(crate) models: Models,
    pub(crate) solutions: Solutions,
    /// Whether the server is about to end.
    pub(crate) closing: watch::Sender<bool>,
    pub(crate) runs: PathBuf,
    pub(crate) model_files: PathBuf,
    pub(crate) trainings: Trainings,
    /// The right to evaluate.
    pub(crate) evaluating: Arc<Semaphore>,
    /// What came of evaluations, the latest one first.
    pub(crate) results: Mutex<VecDeque<Value>>,
}

/// What every handler is given.
pub(crate) type App = Arc<Shared>;

/// A method, a path, and who answers.
struct Route {
    method: Method,
    path: &'static str,
    handler: MethodRouter<App>,
}

fn route<T: 'static, H: Handler<T, App>>(method: Method, path: &'static str, handler: H) -> Route {
    let filter = if method == Method::POST { MethodFilter::POST } else { MethodFilter::GET };
    Route { method, path, handler: on(filter, handler) }
}

fn get<T: 'static, H: Handler<T, App>>(path: &'static str, handler: H) -> Route {
    route(Method::GET, path, handler)
}

fn post<T: 'static, H: Handler<T, App>>(path: &'static str, handler: H) -> Route {
    route(Method::POST, path, handler)
}

/// The API: a test compares it with its description.
fn api() -> Vec<Route> {
    vec![
        get("/api/session", routes::session::session),
        get("/api/models", routes::models::models),
        get("/api/advise", routes::advise::advise),
        post("/api/advise", routes::advise::advise),
        post("/api/game", routes::game::new_game),
        post("/api/move", routes::game::slide),
        get("/api/watch", routes::watch::watch),
        get("/move", routes::advise::best_move),
        post("/api/review", routes::review::review),
        get("/api/review/example", routes::review::example),
        get("/api/recipes", routes::runs::recipes),
        get("/api/runs", routes::runs::runs),
        post("/api/runs", routes::runs::start),
        get("/api/runs/{name}", routes::runs::run),
        get("/api/runs/{name}/events", routes::runs::events),
        post("/api/runs/{name}/stop", routes::runs::stop),
        get("/api/evaluations", routes::evaluate::evaluations),
        get("/api/evaluate", routes::evaluate::evaluate),
    ]
}

/// Everything that the server answers.
pub(crate) fn router(app: App) -> Router {
    let mut router = Router::new();
    for Route { path, handler, .. } in api() {
        router = router.route(path, handler);
    }
    router
        .route("/", on(MethodFilter::GET, page::file))
        .fallback(page::file)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(app.clone(), guard::check))
        .with_state(app)
}

async fn wrong_method() -> ApiError {
    let hint = "/api/openapi.json lists the methods of each path";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this path takes other methods", hint)
}

/// A mistake in one request; the others go on.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::internal("a mistake in afterstate itself").into_response()
}
