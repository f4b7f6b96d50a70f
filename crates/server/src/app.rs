//! The routes, and the state that they share.

use std::{any::Any, path::PathBuf, sync::Arc};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    handler::Handler,
    http::StatusCode,
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodFilter, MethodRouter, on},
};
use tokio::sync::{Semaphore, watch};
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    error::ApiError,
    exact::Solutions,
    extract::MAX_BODY,
    guard::{self, Hosts},
    models::Models,
    openapi, page,
    results::Results,
    routes::{self, recipes::Times},
    searches::{Limits, Searches},
    training::Trainings,
};

/// The state that requests share.
pub(crate) struct Shared {
    pub(crate) hosts: Hosts,
    pub(crate) token: String,
    pub(crate) limits: Limits,
    pub(crate) searches: Searches,
    pub(crate) models: Models,
    pub(crate) solutions: Solutions,
    /// Whether the server is shutting down.
    pub(crate) closing: watch::Sender<bool>,
    pub(crate) runs: PathBuf,
    pub(crate) model_files: PathBuf,
    pub(crate) trainings: Trainings,
    /// The measured times of recipes.
    pub(crate) times: Times,
    /// The permit to evaluate.
    pub(crate) evaluating: Arc<Semaphore>,
    /// The results of evaluations.
    pub(crate) results: Results,
}

/// The state of every handler.
pub(crate) type App = Arc<Shared>;

/// A handler; its name is a method and a path, such as `GET /move`.
struct Route {
    name: &'static str,
    handler: MethodRouter<App>,
}

fn route<T: 'static, H: Handler<T, App>>(name: &'static str, handler: H) -> Route {
    let method = match name.split(' ').next() {
        Some("POST") => MethodFilter::POST,
        Some("DELETE") => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    };
    Route { name, handler: on(method, handler) }
}

/// Paths of the API below this prefix are stable.
const STABLE: &str = "/api/v1/";

/// The API; a test compares it with its description.
fn api() -> Vec<Route> {
    vec![
        route("GET /api/v1/session", routes::session::session),
        route("GET /api/v1/models", routes::models::models),
        route("GET /api/v1/advise", routes::advise::advise),
        route("POST /api/v1/advise", routes::advise::advise),
        route("POST /api/v1/game", routes::game::new_game),
        route("POST /api/v1/move", routes::game::slide),
        route("GET /api/v1/watch", routes::watch::watch),
        route("GET /move", routes::advise::best_move),
        route("POST /api/v1/review", routes::review::review),
        route("GET /api/v1/review/example", routes::review::example),
        route("GET /api/v1/solution", routes::solution::state),
        route("POST /api/v1/solution", routes::solution::solve),
        route("GET /api/v1/solution/events", routes::solution::events),
        route("GET /api/v1/recipes", routes::recipes::recipes),
        route("GET /api/v1/recipes/{name}", routes::recipes::recipe),
        route("GET /api/v1/runs", routes::runs::runs),
        route("POST /api/v1/runs", routes::runs::start),
        route("GET /api/v1/runs/{name}", routes::runs::run),
        route("DELETE /api/v1/runs/{name}", routes::runs::delete),
        route("GET /api/v1/runs/{name}/events", routes::runs::events),
        route("POST /api/v1/runs/{name}/stop", routes::runs::stop),
        route("POST /api/v1/runs/{name}/resume", routes::runs::resume),
        route("POST /api/v1/runs/{name}/rename", routes::runs::rename),
        route("GET /api/v1/evaluations", routes::evaluate::evaluations),
        route("POST /api/v1/evaluate", routes::evaluate::evaluate),
        route("GET /api/v1/openapi.json", openapi::openapi),
    ]
}

/// All routes. The API is also at `/api/`, where it was before it was versioned.
pub(crate) fn router(app: App) -> Router {
    let mut router = Router::new();
    for Route { name, handler } in api() {
        let path = name.trim_start_matches(|c| c != '/');
        if let Some(rest) = path.strip_prefix(STABLE) {
            router = router.route(&format!("/api/{rest}"), handler.clone());
        }
        router = router.route(path, handler);
    }
    router = router.route("/", on(MethodFilter::GET, page::file)).fallback(page::file);
    guarded(router, app)
}

/// Adds what applies to all routes.
fn guarded(router: Router<App>, app: App) -> Router {
    router
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(app.clone(), guard::check))
        .with_state(app)
}

async fn wrong_method() -> ApiError {
    let hint = "/api/v1/openapi.json lists the methods of each path";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this path takes other methods", hint)
}

/// A bug in one request; the others continue.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::internal("a mistake in afterstate itself").into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::{
        body::{Body, to_bytes},
        extract::Request,
    };
    use serde_json::Value;
    use tower::ServiceExt;

    use super::*;
    use crate::{Options, Server};

    #[test]
    fn the_description_has_the_routes_and_no_others() {
        let description: Value = serde_json::from_str(openapi::TEXT).expect("JSON");
        let paths = description["paths"].as_object().expect("an object");
        let described: BTreeSet<String> = paths
            .iter()
            .flat_map(|(path, methods)| {
                let methods = methods.as_object().expect("an object").keys();
                methods.map(move |method| format!("{} {path}", method.to_uppercase()))
            })
            .collect();
        let routes: BTreeSet<_> = api().iter().map(|route| route.name.to_owned()).collect();
        assert_eq!(described, routes);
        assert_eq!(description["info"]["version"], env!("CARGO_PKG_VERSION"));
    }

    async fn ask(router: &Router, path: &str) -> (StatusCode, Value) {
        let request = Request::get(path).header("Host", "localhost").body(Body::empty()).expect("a request");
        let Ok(response) = router.clone().oneshot(request).await;
        let status = response.status();
        let body = to_bytes(response.into_body(), MAX_BODY).await.expect("a body");
        (status, serde_json::from_slice(&body).expect("JSON"))
    }

    /// The model comes through a pipe that stays empty for a while.
    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread")]
    async fn the_time_of_a_search_is_also_that_of_loading() {
        let folder = tempfile::tempdir().expect("a directory");
        let pipe = folder.path().join("slow.safetensors");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        let options = Options { port: Some(0), model: Some(pipe.clone()), ..Options::default() };
        let mut server = Server::bind(&options).expect("a free port");
        let shared = Arc::get_mut(&mut server.app).expect("nobody has it yet");
        shared.limits.max_search_ms = 400;
        let router = router(server.app.clone());
        let start = std::time::Instant::now();
        let (status, answer) = ask(&router, "/api/v1/advise?board=0000/0010/0100/000b&search=8ply").await;
        assert!(start.elapsed().as_secs_f64() < 3.0, "{:?}", start.elapsed());
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer["error"], "the model is still loading");
        // The reader of the pipe gets nothing, and finds no pipe to open again.
        let writer = std::fs::OpenOptions::new().write(true).open(&pipe).expect("a reader is there");
        std::fs::remove_file(&pipe).expect("it is there");
        drop(writer);
    }

    #[tokio::test]
    async fn a_panic_is_a_500_and_the_server_goes_on() {
        let server = Server::bind(&Options { port: Some(0), ..Options::default() }).expect("a free port");
        async fn panic() -> StatusCode {
            panic!("a mistake, made on purpose")
        }
        let session = on(MethodFilter::GET, routes::session::session);
        let router = Router::new().route("/panic", on(MethodFilter::GET, panic)).route("/session", session);
        let router = guarded(router, server.app.clone());
        for _ in 0..2 {
            let (status, answer) = ask(&router, "/panic").await;
            assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(answer["error"], "a mistake in afterstate itself");
            assert!(answer["hint"].as_str().is_some_and(|hint| hint.contains("report")), "{answer}");
            assert_eq!(ask(&router, "/session").await.0, StatusCode::OK);
        }
    }
}
