//! One WebSocket: a reader that dispatches, a writer that empties the outbox.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use liminal_contract::Frame;

use super::dispatch::dispatch;
use super::inbound::{self, Refused};
use super::{Client, Closing, Outbox};
use crate::app::App;

/// A message between the longest we read and this is taken in, dropped and answered; a longer one ends the
/// connection.
pub const MOST_DRAINED: usize = 64 * 1024 * 1024;

/// How long a browser that is told to leave may take to hear it.
const FAREWELL: Duration = Duration::from_millis(500);

/// Serves one browser until it or we close. `credential` is what it came in with.
pub async fn serve(app: Arc<App>, socket: WebSocket, credential: String) {
    let client = app.hub.join();
    // It was checked before the upgrade, but may have been replaced between then and joining the hub. From here on
    // replacing it closes us.
    if !app.credential.matches(&credential) {
        client.outbox.close(Closing::CredentialVoid);
    }
    drop(credential);
    app.greet(&client.outbox);

    let (sink, mut stream) = socket.split();
    let mut writer = tokio::spawn(write(sink, client.outbox.clone()));
    tokio::select! {
        () = read(&app, &client, &mut stream) => {
            // Nobody is there any more, or it said what can't be read; a reason given before stands.
            client.outbox.close(Closing::Stopping);
            let _panicked = writer.await;
        }
        _panicked = &mut writer => {
            // A socket that is dropped with something unread in it is reset, and our goodbye with it.
            let heard = async { while let Some(Ok(_)) = stream.next().await {} };
            let _too_slow_to_hear = tokio::time::timeout(FAREWELL, heard).await;
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
            // Reading on is what answers a ping and a goodbye.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_))) => continue,
            None => return,
            Some(Err(error)) => {
                tracing::debug!(%error, "a connection ended");
                if is_too_long(&error) {
                    client.outbox.close(Closing::TooLong);
                }
                return;
            }
        };
        match request {
            Ok(request) => dispatch(app, client, request).await,
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
                if sink.send(Message::Text(text)).await.is_err() {
                    return;
                }
            }
            Err(why) => break why,
        }
    };
    let goodbye = CloseFrame { code: why.code(), reason: why.reason().into() };
    let _too_slow_to_hear =
        tokio::time::timeout(FAREWELL, sink.send(Message::Close(Some(goodbye)))).await;
}

fn is_too_long(error: &axum::Error) -> bool {
    error.to_string().contains("too long") || error.to_string().contains("too big")
}
