//! The page and its assets.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::app::App;

/// One file of the page. Browsers ask for a document every time and get it only if it changed. It names the version of
/// all other files, so that files of two versions of the program are never mixed and none of these is asked for twice.
pub async fn serve(State(app): State<Arc<App>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, "Use GET.\n").into_response();
    }
    let Some(asset) = app.assets.get(request.uri().path()) else {
        return (StatusCode::NOT_FOUND, "Not found.\n").into_response();
    };
    let lasting = "max-age=31536000, immutable";
    let lasting = if asset.is_versioned { lasting } else { "no-cache" };
    let caching = [(CACHE_CONTROL, lasting), (ETAG, asset.etag.as_ref())];
    let known = request.headers().get_all(IF_NONE_MATCH).iter();
    let is_known = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|etag| etag.trim().trim_start_matches("W/") == asset.etag);
    if is_known {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    // The links we print and open have a random query, so that no page that another program left in the browser's cache
    // answers in our place. Anything else it left there must go before the page asks for its scripts.
    let is_link = request.uri().query().is_some();
    let forget = is_link.then_some([(HeaderName::from_static("clear-site-data"), "\"cache\"")]);
    (forget, caching, [(CONTENT_TYPE, asset.content_type)], asset.bytes.into_owned())
        .into_response()
}
