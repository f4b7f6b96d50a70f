//! Who may ask for what.
//!
//! A page of another site must not reach the server through a visitor's browser. With a name of its own that it lets
//! point to the visitor's machine, it would be of one origin with us: so the Host must be a name that we
//! know, or an address. What starts or stops something needs a token besides, which only the page can have read.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{ConnectInfo, FromRequestParts, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{app::App, error::ApiError};

/// The header that carries the token.
const TOKEN: HeaderName = HeaderName::from_static("x-afterstate-token");

/// Which names the server answers to.
pub(crate) struct Hosts {
    /// Whether only this machine can reach it.
    pub(crate) loopback: bool,
    /// Names besides `localhost`.
    pub(crate) names: Vec<String>,
}

impl Hosts {
    /// Whether a Host header, with or without a port, is ours. An address is never somebody's name.
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

/// Looks at every request before anything else does, and at every answer.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let response = match refuse(&app, &request) {
        Some(error) => error.into_response(),
        None => next.run(request).await,
    };
    with_headers(response)
}

fn refuse(app: &App, request: &Request) -> Option<ApiError> {
    let headers = request.headers();
    let header = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(host) = request.uri().authority().map(Authority::as_str).or(header) else {
        return Some(ApiError::bad("the request has no Host header", "name the host that is asked"));
    };
    if [Some(host), header].into_iter().flatten().any(|host| !app.hosts.allow(host)) {
        let hint = "ask for http://127.0.0.1 or http://localhost; `--host NAME` allows for another name";
        return Some(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "this server has another name", hint));
    }
    let is_foreign = headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site");
    if is_foreign && request.uri().path().starts_with("/api/") {
        let hint = "only /move is open to the pages of other sites";
        return Some(ApiError::new(StatusCode::FORBIDDEN, "a page of another site asks", hint));
    }
    None
}

/// What a browser is told to be strict about.
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

/// Whether a request comes from this machine, and not through a proxy on it.
pub(crate) fn is_local(address: SocketAddr, headers: &HeaderMap) -> bool {
    let is_passed_on = headers.contains_key("x-forwarded-for") || headers.contains_key(header::FORWARDED);
    address.ip().to_canonical().is_loopback() && !is_passed_on
}

/// Someone on this machine who knows the token.
pub(crate) struct Trusted;

impl Trusted {
    /// Checks where a request comes from, and the token.
    pub(crate) fn check(
        app: &App,
        address: SocketAddr,
        headers: &HeaderMap,
        token: Option<&str>,
    ) -> Result<Trusted, ApiError> {
        let forbidden = |error, hint| ApiError::new(StatusCode::FORBIDDEN, error, hint);
        if !is_local(address, headers) {
            let hint = "open the page on the machine where the server runs";
            return Err(forbidden("only this machine may start and stop work", hint));
        }
        match token {
            Some(token) if is_same(token, &app.token) => Ok(Trusted),
            _ => {
                let hint = "send the token of /api/session as X-Afterstate-Token";
                Err(forbidden("the token is missing or wrong", hint))
            }
        }
    }
}

impl FromRequestParts<App> for Trusted {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let token = parts.headers.get(TOKEN).and_then(|token| token.to_str().ok());
        Trusted::check(app, peer(parts), &parts.headers, token)
    }
}

/// Where a request comes from; from nowhere that is trusted if that is not known.
pub(crate) fn peer(parts: &Parts) -> SocketAddr {
    let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map_or(unknown, |info| info.0)
}

/// Compares in a time that does not tell where they differ.
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
