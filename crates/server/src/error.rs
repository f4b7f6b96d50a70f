//! Errors, for people and for programs.

use afterstate_lab::model::ModelError;
use afterstate_network::file::FileProblem;
use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use serde_json::json;

/// Why a request fails: a status, what is wrong, and what would be right.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    pub(crate) error: String,
    pub(crate) hint: String,
}

/// The result of a handler.
pub(crate) type Answer<T> = Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(status: StatusCode, error: impl ToString, hint: impl ToString) -> Self {
        ApiError { status, error: error.to_string(), hint: hint.to_string() }
    }

    /// The request is invalid.
    pub(crate) fn bad(error: impl ToString, hint: impl ToString) -> Self {
        ApiError::new(StatusCode::BAD_REQUEST, error, hint)
    }

    /// The named resource does not exist.
    pub(crate) fn not_found(error: impl ToString, hint: impl ToString) -> Self {
        ApiError::new(StatusCode::NOT_FOUND, error, hint)
    }

    /// The request conflicts with the current state.
    pub(crate) fn conflict(error: impl ToString, hint: impl ToString) -> Self {
        ApiError::new(StatusCode::CONFLICT, error, hint)
    }

    /// The server is at capacity.
    pub(crate) fn busy(error: impl ToString) -> Self {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error, "try again in a second")
    }

    /// A bug of the server.
    pub(crate) fn internal(error: impl ToString) -> Self {
        let hint = "the server continues; please report it with its output";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error, hint)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = Json(json!({ "error": self.error, "hint": self.hint }));
        let mut response = (self.status, body).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<ModelError> for ApiError {
    fn from(error: ModelError) -> Self {
        let (status, hint) = match &error {
            ModelError::Values { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "choose a model of afterstates; /api/v1/models lists them")
            }
            ModelError::NoSearch { .. } => {
                let hint = "an n-tuple network plays by 3ply, 100ms, 1s or 1ply+downgrade, a policy by majority, sum or \
                            plain, a convolutional network of values by 1ply";
                (StatusCode::UNPROCESSABLE_ENTITY, hint)
            }
            ModelError::Side { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "give a board or a model that fits the other")
            }
            ModelError::Unsolved(4) => {
                let hint = "exact values are for 3×3 and 2×2";
                return ApiError::bad("4×4 is not solved, and will not be", hint);
            }
            ModelError::Unsolved(_) => (StatusCode::NOT_FOUND, "`afterstate solve` solves it"),
            ModelError::File(error) if matches!(error.problem, FileProblem::Network(_)) => {
                (StatusCode::SERVICE_UNAVAILABLE, "close other programs, or choose a smaller model")
            }
            _ => (StatusCode::UNPROCESSABLE_ENTITY, "the file is damaged, or is not a model: get it again"),
        };
        ApiError::new(status, error, hint)
    }
}
