//! Access control.
//!
//! A page of another site must not reach the server through a visitor's browser. With a domain name of its own that
//! resolves to the visitor's machine, it would have the same origin as we do (DNS rebinding): so the Host must be a
//! known name, or an address. Requests that start or stop something need a token, which is only printed in the
//! terminal: the origin of a request proves nothing behind a proxy.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{ConnectInfo, FromRequestParts, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    app::App,
    error::ApiError,
    extract::{self, MAX_BODY},
};

/// The header that carries the token.
const TOKEN: HeaderName = HeaderName::from_static("x-afterstate-token");

/// The names that the server answers to.
pub(crate) struct Hosts {
    /// Whether only this machine can reach it.
    pub(crate) loopback: bool,
    /// Names besides `localhost`.
    pub(crate) names: Vec<String>,
}

impl Hosts {
    /// Whether a Host header, with or without a port, is ours. Addresses cannot be anybody's domain name.
    fn allow(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        if authority.as_str().contains('@') {
            return false;
        }
        let name = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
        match name.parse::<IpAddr>() {
            Ok(address) => !self.loopback || address.is_loopback(),
            Err(_) => name == "localhost" || self.names.iter().any(|known| known.eq_ignore_ascii_case(&name)),
        }
    }
}

/// Checks every request before any handler, and adds headers to every response.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    // Other sites may read the responses to their requests, including errors.
    let is_open = request.uri().path() == "/move";
    let mut response = match refuse(&app, &request) {
        Some(error) => error.into_response(),
        None => next.run(request).await,
    };
    if is_open {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    with_headers(response)
}

fn refuse(app: &App, request: &Request) -> Option<ApiError> {
    let headers = request.headers();
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Some(ApiError::bad("the request has two Host headers", "name one host"));
    }
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY as u64) {
        return Some(extract::too_large());
    }
    let header = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(host) = request.uri().authority().map(Authority::as_str).or(header) else {
        return Some(ApiError::bad("the request has no Host header", "name the host that is asked"));
    };
    if [Some(host), header].into_iter().flatten().any(|host| !app.hosts.allow(host)) {
        let hint = "use http://127.0.0.1 or http://localhost; `--host NAME` allows another name";
        return Some(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "this server has another name", hint));
    }
    let is_cross_site = headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site");
    if is_cross_site && request.uri().path().starts_with("/api/") {
        let hint = "only /move is open to the pages of other sites";
        return Some(ApiError::new(
            StatusCode::FORBIDDEN,
            "the request comes from a page of another site",
            hint,
        ));
    }
    None
}

/// Adds headers that make browsers strict.
fn with_headers(mut response: Response) -> Response {
    const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'";
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Whether a page of another site made the request, as far as browsers tell. Programs do not.
pub(crate) fn is_foreign(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return site != "same-origin" && site != "none";
    }
    let own = text(header::HOST).map(|host| [format!("http://{host}"), format!("https://{host}")]);
    text(header::ORIGIN).is_some_and(|origin| own.is_none_or(|own| own.iter().all(|own| own != origin)))
}

/// A client with the token.
pub(crate) struct Trusted;

/// Whether a request has the token.
pub(crate) fn is_trusted(app: &App, headers: &HeaderMap) -> bool {
    let token = headers.get(TOKEN).and_then(|token| token.to_str().ok());
    token.is_some_and(|token| is_same(token, &app.token))
}

impl FromRequestParts<App> for Trusted {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if is_trusted(app, &parts.headers) {
            return Ok(Trusted);
        }
        let hint =
            "open the address that `afterstate serve` has printed, or send its token as X-Afterstate-Token";
        Err(ApiError::new(StatusCode::FORBIDDEN, "the token is missing or wrong", hint))
    }
}

/// The address of the client.
pub(crate) struct Peer(pub(crate) IpAddr);

impl FromRequestParts<App> for Peer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        Ok(Peer(peer(parts).ip().to_canonical()))
    }
}

/// The origin of a request.
fn peer(parts: &Parts) -> SocketAddr {
    let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map_or(unknown, |info| info.0)
}

/// Compares in constant time.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_anybodys_are_refused() {
        let local = Hosts { loopback: true, names: vec!["box.lan".into()] };
        for host in ["localhost", "127.0.0.1:2048", "[::1]:80", "LOCALHOST:1", "box.lan:2048", "127.1.2.3"] {
            assert!(local.allow(host), "{host}");
        }
        for host in
            ["evil.com", "localhost.evil.com", "192.168.0.1", "a@localhost", "", "x y", "[::2]", "0.0.0.0"]
        {
            assert!(!local.allow(host), "{host}");
        }
        let open = Hosts { loopback: false, names: Vec::new() };
        assert!(open.allow("192.168.0.1:2048") && open.allow("localhost") && !open.allow("evil.com"));
    }
}
