//! The upgrade to a WebSocket.

use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, State};
use axum::response::Response;

use crate::app::App;
use crate::door::Pass;
use crate::ws;

/// `GET /ws`. One of the protocols offered may be a token or ticket; only our own protocol is selected, so neither is
/// ever in a response.
pub async fn upgrade(
    State(app): State<Arc<App>>,
    Extension(pass): Extension<Pass>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade
        .protocols(["liminal.1"])
        .max_message_size(ws::MOST_DRAINED)
        .max_frame_size(ws::MOST_DRAINED)
        .on_upgrade(move |socket| ws::serve(app, socket, pass))
}
