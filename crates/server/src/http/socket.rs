//! The upgrade to a WebSocket.

use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, State};
use axum::response::Response;

use super::guard::Presented;
use crate::app::App;
use crate::ws;

/// `GET /ws`. Of the protocols offered, one of which may be the token, only our own is selected, so the token is
/// in no response.
pub async fn upgrade(
    State(app): State<Arc<App>>,
    Extension(Presented(credential)): Extension<Presented>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade
        .protocols(["liminal.1"])
        .max_message_size(ws::MOST_DRAINED)
        .max_frame_size(ws::MOST_DRAINED)
        .on_upgrade(move |socket| ws::serve(app, socket, credential))
}
