//! The page: files of `page/`, compiled into the program. Debug builds read them from there at each request, so that
//! a change is seen by loading the page again.

use axum::{
    http::{HeaderValue, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};

use crate::error::ApiError;

#[derive(rust_embed::RustEmbed)]
#[folder = "page/"]
struct Page;

/// A file of the page, or what there is to say when there is none.
pub(crate) async fn file(uri: Uri) -> Response {
    let name = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some(file) = Page::get(name) else {
        let hint = "the page is at /, the API is described at /api/openapi.json";
        return ApiError::not_found("there is nothing here", hint).into_response();
    };
    let content_type = HeaderValue::from_static(content_type(name));
    ([(CONTENT_TYPE, content_type)], file.data).into_response()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json" | "webmanifest") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}
