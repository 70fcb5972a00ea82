//! Every route, and which access checks it needs.
//!
//! Every request must name one of our addresses. `/api/*` and `/ws` need the token or a ticket, except for the calls
//! that exist to get one. The page and its assets contain no secrets.

mod answer;
mod api;
mod attachments;
mod download;
mod guard;
mod outside;
mod page;
mod sessions;
mod socket;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, delete, get, post};

use crate::app::App;
use crate::attachments::LARGEST;

/// In bytes.
const LONGEST_BODY: usize = 1024 * 1024;

pub fn router(app: Arc<App>) -> Router {
    let open = Router::new()
        .route("/api/health", get(api::health))
        .route("/api/prove", get(api::prove))
        .route("/api/login", post(api::login))
        .route("/api/challenge", post(api::challenge))
        .route("/api/ticket", post(api::ticket));
    let closed = Router::new()
        .route("/ws", any(socket::upgrade))
        .route("/api/about", get(api::about))
        .route("/api/browsers", get(api::browsers))
        .route("/api/browsers/{id}", delete(api::log_out))
        .route("/api/token/rotate", post(api::rotate))
        .route("/api/code", post(api::code))
        .route("/api/session/create", post(sessions::create))
        .route("/api/session/list", get(sessions::list))
        .route("/api/session/{id}/load", post(sessions::load))
        .route("/api/session/{id}/status", get(sessions::status))
        .route("/api/session/{id}/send", post(sessions::send))
        .route("/api/session/{id}/cancel", post(sessions::cancel))
        .route("/api/session/{id}/kill", post(sessions::kill))
        .route("/api/session/{id}/export", get(sessions::export))
        .route("/api/session/{id}/item/{item}/output", get(sessions::output))
        .route("/api/session/{id}/image/{name}", get(sessions::image))
        .route("/api/outside/keep", get(outside::progress).post(outside::keep))
        .route("/api/attachment", post(attachments::store).layer(DefaultBodyLimit::max(LARGEST)))
        .route("/api/attachment/{id}", get(attachments::read))
        .route("/api/{*unknown}", any(api::unknown))
        .route_layer(from_fn_with_state(app.clone(), guard::credential));
    open.merge(closed)
        .fallback(page::serve)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(app.clone(), guard::address))
        .layer(from_fn(guard::headers))
        .with_state(app)
}
