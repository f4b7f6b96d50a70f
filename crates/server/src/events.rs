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

/// The interval of keep-alive messages on idle streams; a disconnected client is noticed then.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Responds with a stream, until the server closes; or with an error if too many are open.
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
    // Our values have string keys, so they can be serialized.
    Event::default().event(name).json_data(value).unwrap_or_default()
}

/// Reports an error after the response has begun.
pub(crate) fn error(error: &ApiError) -> Event {
    event("error", &json!({ "error": error.error, "hint": error.hint }))
}
