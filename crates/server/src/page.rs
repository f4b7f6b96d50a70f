//! The page: files of `page/`, compiled into the program. Debug builds read them at each request, so that
//! changes show on reload.

use std::{
    collections::HashMap,
    io::Write,
    sync::{Mutex, OnceLock},
};

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use flate2::{Compression, write::GzEncoder};

use crate::{error::ApiError, models::lock};

#[derive(rust_embed::RustEmbed)]
#[folder = "page/"]
struct Page;

/// Smaller files are not compressed.
const WORTHWHILE: usize = 512;

/// Responds with a file of the page, or an error. Browsers cache it and revalidate.
pub(crate) async fn file(uri: Uri, headers: HeaderMap) -> Response {
    let name = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some(file) = Page::get(name) else {
        let hint = "the page is at /, the API is described at /api/v1/openapi.json";
        return ApiError::not_found("there is nothing here", hint).into_response();
    };
    let hash = file.metadata.sha256_hash();
    let tag: String = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let has = |name: header::HeaderName, part: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains(part))
    };
    let common = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type(name))),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::VARY, HeaderValue::from_static("Accept-Encoding")),
        // The tag consists of hexadecimal digits.
        (header::ETAG, HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"\""))),
    ];
    if has(header::IF_NONE_MATCH, &tag) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    if file.data.len() >= WORTHWHILE && has(header::ACCEPT_ENCODING, "gzip") {
        let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
        return (common, encoding, compressed(hash, &file.data)).into_response();
    }
    (common, file.data).into_response()
}

/// A file as gzip, compressed once.
fn compressed(hash: [u8; 32], data: &[u8]) -> Bytes {
    static DONE: OnceLock<Mutex<HashMap<[u8; 32], Bytes>>> = OnceLock::new();
    let mut done = lock(DONE.get_or_init(Mutex::default));
    let compress = || {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        // Writing to memory cannot fail.
        encoder.write_all(data).and_then(|()| encoder.finish()).unwrap_or_default().into()
    };
    done.entry(hash).or_insert_with(compress).clone()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}
