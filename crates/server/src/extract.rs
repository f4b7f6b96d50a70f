//! Extracts and checks the input of requests; errors are reported as JSON.

use std::time::Duration;

use afterstate_game::{AnyBoard, Move};
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{Method, StatusCode, header::CONTENT_TYPE, request::Parts},
};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::{
    error::{Answer, ApiError},
    words,
};

/// The maximum size of a body in bytes: a long game with a board for each move.
pub(crate) const MAX_BODY: usize = 4 << 20;

/// The time limit for receiving a body.
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
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive", "send it at once")
        })?;
        let bytes = body.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(),
            _ => ApiError::bad(rejection.body_text(), "send the whole body"),
        })?;
        parse(&bytes).map(Body).map_err(|error| ApiError::bad(error, "/api/v1/openapi.json describes it"))
    }
}

/// Parses a body, or says what is wrong with it.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let no_json = |error: &serde_json::Error| {
        format!("the body is not JSON: see line {}, column {}", error.line(), error.column())
    };
    let mut text = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut text).map_err(|error| {
        let (path, error) = (error.path().to_string(), error.inner());
        match error.is_data() {
            true => words::of_field(Some(&*path).filter(|path| *path != "."), &error.to_string()),
            false => no_json(error),
        }
    })?;
    text.end().map_err(|error| no_json(&error))?;
    Ok(parsed)
}

/// The error for a body beyond the limit.
pub(crate) fn too_large() -> ApiError {
    let error = format!("the body is larger than {MAX_BODY} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, error, "send less at once")
}

/// The query parameters of an address.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(|Query(value)| Parameters(value)).map_err(|rejection| {
            ApiError::bad(
                words::of_query(&rejection.body_text()),
                "/api/v1/openapi.json lists the parameters",
            )
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

/// A decoded path segment.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = axum::extract::Path::<String>::from_request_parts(parts, state).await;
        path.map(|path| Name(path.0))
            .map_err(|rejection| ApiError::bad(rejection.body_text(), "write the name in UTF-8, %-encoded"))
    }
}

/// Parses a board.
pub(crate) fn board(text: &str) -> Answer<AnyBoard> {
    let hint = "write exponents, 0000/0010/0100/000b, or face values, 0 0 0 0  0 0 2 0 …";
    text.parse().map_err(|error| ApiError::bad(format!("the board: {error}"), hint))
}

/// Parses a move from its name or its first letter.
pub(crate) fn slide(text: &str) -> Answer<Move> {
    let is_named = |a: &Move| text == a.name() || text == &a.name()[..1];
    let found = Move::ALL.into_iter().find(is_named);
    found.ok_or_else(|| {
        ApiError::bad(format!("`{}` is no move", excerpt(text)), "write up, right, down or left")
    })
}

/// The beginning of a text from a request.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are looked at")]
    struct Question {
        game: u64,
        seconds: Option<f64>,
        boards: Option<Vec<String>>,
        against: Option<Against>,
    }

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are looked at")]
    struct Against {
        model: String,
    }

    #[test]
    fn what_is_wrong_with_a_body_is_said_in_plain_words() {
        for (body, error) in [
            (r#"{"game":-5}"#, "`game` is -5, not a whole number of at least 0"),
            (r#"{"game":1.5}"#, "`game` is 1.5, not a whole number of at least 0"),
            (r#"{"game":"x, expected y"}"#, "`game` is \"x, expected y\", not a whole number of at least 0"),
            (r#"{"game":null}"#, "`game` is null, not a whole number of at least 0"),
            (r#"{"game":1,"seconds":"7"}"#, "`seconds` is \"7\", not a number"),
            (r#"{"game":1,"boards":"0000"}"#, "`boards` is \"0000\", not a list"),
            (r#"{"game":1,"boards":["0",[]]}"#, "`boards[1]` is a list, not a text"),
            (r#"{"game":1,"against":{}}"#, "`against.model` is missing"),
            (r#"{"game":1,"against":7}"#, "`against` is 7, not an object"),
            (r#"{}"#, "`game` is missing"),
            (r#"{"game":1,"game":2}"#, "`game` is there twice"),
            (r#"{"gmae":1}"#, "`gmae` is not one of the known names: `game`, `seconds`, `boards`, `against`"),
            (r#"{"game":1,"against":{"mode":1}}"#, "`mode` is not one of the known names: `model`"),
            (r#"7"#, "the body is 7, not an object"),
            (r#"[]"#, "the body is a list, not an object"),
            (r#"{"game":"#, "the body is not JSON: see line 1, column 8"),
            (r#"{"game":1} x"#, "the body is not JSON: see line 1, column 12"),
            ("", "the body is not JSON: see line 1, column 0"),
        ] {
            assert_eq!(parse::<Question>(body.as_bytes()).expect_err(body), error, "{body}");
        }
        let long = format!(r#"{{"game":"{}"}}"#, "x".repeat(100_000));
        assert!(parse::<Question>(long.as_bytes()).expect_err("a text").len() < 200);
    }

    #[tokio::test]
    async fn what_is_wrong_with_a_query_is_said_in_plain_words() {
        for (query, error) in [
            ("game=-5", "`game` is not a whole number of at least 0"),
            ("game=", "`game` is not a whole number of at least 0"),
            ("game=99999999999999999999", "`game` is too large"),
            ("game=1&seconds=x", "`seconds` is not a number"),
            ("", "`game` is missing"),
            ("game=1&game=2", "`game` is there twice"),
        ] {
            let request = Request::get(format!("/?{query}")).body(()).expect("a request");
            let (mut parts, ()) = request.into_parts();
            let refused = Parameters::<Question>::from_request_parts(&mut parts, &()).await;
            assert_eq!(refused.err().expect(query).error, error, "{query}");
        }
    }
}
