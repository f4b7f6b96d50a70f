//! Streams of server-sent events.

use std::{convert::Infallible, net::IpAddr, time::Duration};

use axum::response::{
    IntoResponse, Response, Sse,
    sse::{Event, KeepAlive},
};
use futures_util::{Stream, StreamExt};
use serde::Serialize;
use serde_json::json;

use crate::{
    app::App,
    error::{Answer, ApiError},
};

/// How often a client that hears nothing is told that we are there; one that has gone is noticed then.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// A stream as an answer, until the server closes; or none, when too many are open.
pub(crate) fn respond(
    app: &App,
    peer: IpAddr,
    events: impl Stream<Item = Event> + Send + 'static,
) -> Answer<Response> {
    let permit = app.searches.stream(peer)?;
    let mut closing = app.closing.subscribe();
    let closed = async move { _ = closing.wait_for(|closing| *closing).await };
    let events = events.take_until(closed).map(move |event| {
        let _open = &permit;
        Ok::<_, Infallible>(event)
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// An event with a value.
pub(crate) fn event(name: &str, value: &impl Serialize) -> Event {
    // Our values have texts as keys, so that they can be written.
    Event::default().event(name).json_data(value).unwrap_or_default()
}

/// Tells of an error when the answer has begun.
pub(crate) fn error(error: &ApiError) -> Event {
    event("error", &json!({ "error": error.error, "hint": error.hint }))
}
