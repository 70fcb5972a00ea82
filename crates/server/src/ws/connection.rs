//! One WebSocket: a reader that dispatches, a writer that empties the outbox.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use liminal_contract::Frame;
use tokio_tungstenite::tungstenite;

use super::dispatch::dispatch;
use super::inbound::{self, Refused};

use crate::app::App;
use crate::door::Pass;
use crate::feed::{Client, Closing, Outbox};

/// In bytes. A message longer than we accept but not longer than this is read, dropped and answered; a longer one ends
/// the connection.
pub const MOST_DRAINED: usize = 64 * 1024 * 1024;

/// How long a browser may take to receive the close frame.
const FAREWELL: Duration = Duration::from_millis(500);

/// Serves one browser until either side closes. `pass` is the credential it connected with.
pub async fn serve(app: Arc<App>, socket: WebSocket, pass: Pass) {
    let client = match &pass {
        Pass::Browser(browser) => app.hub.join_as(Some(browser.clone())),
        Pass::Token(_) => app.hub.join(),
    };
    // The pass was checked before the upgrade, but may have become invalid before we joined the hub. From here on the
    // hub closes us when that happens.
    if !app.admits(&pass) {
        client.outbox.close(Closing::CredentialVoid);
    }
    drop(pass);
    app.greet(&client.outbox);

    let (sink, mut stream) = socket.split();
    let mut writer = tokio::spawn(write(sink, client.outbox.clone()));
    tokio::select! {
        () = read(&app, &client, &mut stream) => {
            // The browser is gone, or sent something unreadable; a reason given earlier stays.
            client.outbox.close(Closing::Stopping);
            let _panicked = writer.await;
        }
        _panicked = &mut writer => {
            // Dropping a socket with unread data resets it, and the close frame would be lost.
            let drained = async { while let Some(Ok(_)) = stream.next().await {} };
            let _too_slow = tokio::time::timeout(FAREWELL, drained).await;
        }
    }
    app.hub.remove(client.id);
}

async fn read(app: &Arc<App>, client: &Client, stream: &mut SplitStream<WebSocket>) {
    loop {
        client.outbox.room().await;
        let request = match stream.next().await {
            Some(Ok(Message::Text(text))) => inbound::read(&text),
            Some(Ok(Message::Binary(_))) => Err(inbound::refuse_binary()),
            // Continuing to read is what answers a ping or a close.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_))) => continue,
            None => return,
            Some(Err(error)) => {
                tracing::debug!(%error, "a connection ended");
                if is_too_long(error) {
                    client.outbox.close(Closing::TooLong);
                }
                return;
            }
        };
        match request {
            Ok(request) => dispatch(app, client, request),
            Err(Refused { request_id, failure }) => {
                client.outbox.reply(&Frame { request_id, message: failure.into_message() });
            }
        }
    }
}

async fn write(mut sink: SplitSink<WebSocket, Message>, outbox: Arc<Outbox>) {
    let why = loop {
        match outbox.next().await {
            Ok(text) => {
                // Our own JSON is always UTF-8.
                let Ok(text) = Utf8Bytes::try_from(text) else { continue };
                if sink.send(Message::Text(text)).await.is_err() {
                    return;
                }
            }
            Err(why) => break why,
        }
    };
    let goodbye = CloseFrame { code: why.code(), reason: why.reason().into() };
    let _too_slow = tokio::time::timeout(FAREWELL, sink.send(Message::Close(Some(goodbye)))).await;
}

fn is_too_long(error: axum::Error) -> bool {
    let cause = error.into_inner();
    matches!(cause.downcast_ref(), Some(tungstenite::Error::Capacity(_)))
}
