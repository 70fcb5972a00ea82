//! The page and its assets.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::app::App;

/// One file of the page. It is asked for each time and sent only when it changed: a new version of the program is
/// never mixed with files of the old one.
pub async fn serve(State(app): State<Arc<App>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, "Only GET.\n").into_response();
    }
    let Some(asset) = app.assets.get(request.uri().path()) else {
        return (StatusCode::NOT_FOUND, "There is nothing here.\n").into_response();
    };
    let caching = [(CACHE_CONTROL, "no-cache"), (ETAG, asset.etag.as_ref())];
    let known = request.headers().get_all(IF_NONE_MATCH).iter();
    let is_known = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|etag| etag.trim().trim_start_matches("W/") == asset.etag);
    if is_known {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    (caching, [(CONTENT_TYPE, asset.content_type)], asset.bytes.into_owned()).into_response()
}
