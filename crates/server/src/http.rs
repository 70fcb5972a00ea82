//! Every route, and which checks of the door it needs.
//!
//! Every request must name an address of ours. `/api/*` and `/ws` need the credential, but for the three calls that
//! exist to get one. Page and assets hold no secret.

mod answer;
mod api;
mod download;
mod guard;
mod page;
mod sessions;
mod socket;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get, post};

use crate::app::App;

/// The longest body that is read.
const LONGEST_BODY: usize = 1024 * 1024;

/// The whole of HTTP.
pub fn router(app: Arc<App>) -> Router {
    let open = Router::new()
        .route("/api/health", get(api::health))
        .route("/api/prove", get(api::prove))
        .route("/api/login", post(api::login));
    let closed = Router::new()
        .route("/ws", any(socket::upgrade))
        .route("/api/about", get(api::about))
        .route("/api/token/rotate", post(api::rotate))
        .route("/api/code", post(api::code))
        .merge(sessions::routes())
        .route("/api/{*unknown}", any(api::unknown))
        .route_layer(from_fn_with_state(app.clone(), guard::credential));
    open.merge(closed)
        .fallback(page::serve)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(app.clone(), guard::address))
        .layer(from_fn(guard::headers))
        .with_state(app)
}
