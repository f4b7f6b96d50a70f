//! `/api/v1/openapi.json`: the machine-readable description of the API.

use axum::{http::header::CONTENT_TYPE, response::IntoResponse};

/// The description; a test compares it with the routes.
pub(crate) const TEXT: &str = include_str!("openapi.json");

pub(crate) async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], TEXT)
}
