//! What requests bring along, checked; what is wrong with them is said in JSON.

use std::time::Duration;

use afterstate_game::{AnyBoard, Move};
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{Method, StatusCode, header::CONTENT_TYPE, request::Parts},
};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::error::{Answer, ApiError};

/// The largest body, in bytes: a long game with a board a move.
pub(crate) const MAX_BODY: usize = 4 << 20;

/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.and_then(|text| text.split(';').next()).map(str::trim);
        if !essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json")) {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the body is not marked as JSON",
                "send it with `Content-Type: application/json`",
            ));
        }
        let body = timeout(PATIENCE, Bytes::from_request(request, state)).await.map_err(|_| {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body does not come", "send it at once")
        })?;
        let bytes = body.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(),
            _ => ApiError::bad(rejection.body_text(), "send the whole body"),
        })?;
        let parsed = serde_json::from_slice(&bytes);
        parsed.map(Body).map_err(|error| {
            ApiError::bad(
                format!("the body is not what is expected: {}", plain(&error.to_string())),
                "/api/v1/openapi.json describes it",
            )
        })
    }
}

/// A body beyond the bound.
pub(crate) fn too_large() -> ApiError {
    let error = format!("the body is larger than {MAX_BODY} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, error, "send less at once")
}

/// The part of an address behind the question mark.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(|Query(value)| Parameters(value)).map_err(|rejection| {
            ApiError::bad(plain(&rejection.body_text()), "/api/v1/openapi.json lists the parameters")
        })
    }
}

/// From the parameters of a GET, or the body of a POST.
pub(crate) struct Either<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Either<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if request.method() == Method::POST {
            return Body::from_request(request, state).await.map(|Body(value)| Either(value));
        }
        let (mut parts, _) = request.into_parts();
        Parameters::from_request_parts(&mut parts, state).await.map(|Parameters(value)| Either(value))
    }
}

/// A piece of the path, decoded.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = axum::extract::Path::<String>::from_request_parts(parts, state).await;
        path.map(|path| Name(path.0))
            .map_err(|rejection| ApiError::bad(rejection.body_text(), "write the name in UTF-8, %-encoded"))
    }
}

/// What the libraries find wrong, in words that do not name types of Rust.
fn plain(message: &str) -> String {
    const WORDS: [(&str, &str); 6] = [
        ("Failed to deserialize query string: ", ""),
        ("invalid digit found in string", "not a whole number from 0 on"),
        ("cannot parse integer from empty string", "not a whole number from 0 on"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected f64", "expected a number"),
    ];
    WORDS.iter().fold(message.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

/// A board from its text.
pub(crate) fn board(text: &str) -> Answer<AnyBoard> {
    let hint = "write exponents, 0000/0010/0100/000b, or face values, 0 0 0 0  0 0 2 0 …";
    text.parse().map_err(|error| ApiError::bad(format!("the board: {error}"), hint))
}

/// A move from its name or its first letter.
pub(crate) fn slide(text: &str) -> Answer<Move> {
    let is_named = |a: &Move| text == a.name() || text == &a.name()[..1];
    let found = Move::ALL.into_iter().find(is_named);
    found.ok_or_else(|| {
        ApiError::bad(format!("`{}` is no move", excerpt(text)), "write up, right, down or left")
    })
}

/// The beginning of a text that somebody sent.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}
