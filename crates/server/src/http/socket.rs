//! The upgrade to a WebSocket.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::header::SEC_WEBSOCKET_PROTOCOL;
use axum::http::{self, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::tungstenite::handshake::server::create_response;

use super::guard::protocols;
use crate::app::App;
use crate::door::Pass;
use crate::ws;

/// One of the protocols offered may be a token or ticket; only our own protocol is selected, so neither is ever in a
/// response.
const PROTOCOL: &str = "liminal.1";

/// `GET /ws`.
pub async fn upgrade(
    State(app): State<Arc<App>>,
    Extension(pass): Extension<Pass>,
    request: Request,
) -> Response {
    let (mut parts, _body) = request.into_parts();
    let Some(upgrade) = parts.extensions.remove::<OnUpgrade>() else {
        return StatusCode::UPGRADE_REQUIRED.into_response();
    };
    let offers_ours = protocols(&parts.headers).any(|offered| offered == PROTOCOL);
    let mut accepted = match create_response(&http::Request::from_parts(parts, ())) {
        Ok(accepted) => accepted,
        Err(refused) => return (StatusCode::BAD_REQUEST, refused.to_string()).into_response(),
    };
    if offers_ours {
        let ours = HeaderValue::from_static(PROTOCOL);
        accepted.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, ours);
    }
    tokio::spawn(async move {
        match upgrade.await {
            Ok(stream) => ws::serve(app, stream, pass).await,
            Err(error) => tracing::debug!(%error, "a connection ended before its upgrade"),
        }
    });
    accepted.map(|()| Body::empty())
}
