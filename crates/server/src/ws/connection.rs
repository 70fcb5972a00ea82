//! One WebSocket: a reader that dispatches, a writer that empties the outbox.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use liminal_contract::Frame;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{self, CloseFrame};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::dispatch::dispatch;
use super::inbound::{self, Refused};

use crate::app::App;
use crate::door::Pass;
use crate::feed::{Client, Closing, Outbox};

/// In bytes. A message longer than we accept but not longer than this is read, dropped and answered; a longer one ends
/// the connection.
const MOST_DRAINED: usize = 64 * 1024 * 1024;

/// In bytes. A connection copies what it writes, and keeps the memory. So it gets a longer message in fragments of this
/// size, and the message itself stays in memory once for all browsers.
const FRAGMENT: usize = 32 * 1024;

/// In bytes. Most requests are shorter; each connection keeps this much to read into.
const READ_AT_ONCE: usize = 8 * 1024;

/// How long a browser may take to receive the close frame.
const FAREWELL: Duration = Duration::from_millis(500);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Serves one browser until either side closes. `pass` is the credential it connected with.
pub async fn serve(app: Arc<App>, stream: Upgraded, pass: Pass) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MOST_DRAINED))
        .max_frame_size(Some(MOST_DRAINED))
        .read_buffer_size(READ_AT_ONCE)
        .write_buffer_size(0);
    let stream = TokioIo::new(stream);
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
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

async fn read(app: &Arc<App>, client: &Client, stream: &mut SplitStream<Socket>) {
    loop {
        client.outbox.room().await;
        let request = match stream.next().await {
            Some(Ok(Message::Text(text))) => inbound::read(&text),
            Some(Ok(Message::Binary(_))) => Err(inbound::refuse_binary()),
            // Continuing to read is what answers a ping or a close.
            Some(Ok(
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_),
            )) => continue,
            None => return,
            Some(Err(error)) => {
                tracing::debug!(%error, "a connection ended");
                if matches!(error, Error::Capacity(_)) {
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

async fn write(mut sink: SplitSink<Socket, Message>, outbox: Arc<Outbox>) {
    let why = loop {
        match outbox.next().await {
            Ok(text) => {
                for fragment in fragments(text) {
                    if sink.send(Message::Frame(fragment)).await.is_err() {
                        return;
                    }
                }
            }
            Err(why) => break why,
        }
    };
    let goodbye = CloseFrame { code: CloseCode::from(why.code()), reason: why.reason().into() };
    let _too_slow = tokio::time::timeout(FAREWELL, sink.send(Message::Close(Some(goodbye)))).await;
}

/// A text as the frames of one message. They share its memory.
fn fragments(mut text: Bytes) -> impl Iterator<Item = frame::Frame> {
    let mut next = Some(Data::Text);
    std::iter::from_fn(move || {
        let kind = next.take()?;
        let piece = text.split_to(text.len().min(FRAGMENT));
        let is_last = text.is_empty();
        next = (!is_last).then_some(Data::Continue);
        Some(frame::Frame::message(piece, OpCode::Data(kind), is_last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_sent_in_fragments_that_share_its_memory() {
        let text = Bytes::from("word ".repeat(FRAGMENT));
        let frames: Vec<frame::Frame> = fragments(text.clone()).collect();
        let kinds: Vec<_> = frames.iter().map(|frame| frame.header().opcode).collect();
        let [text_kind, more] = [Data::Text, Data::Continue].map(OpCode::Data);
        assert_eq!(kinds, [text_kind, more, more, more, more]);
        let ends: Vec<bool> = frames.iter().map(|frame| frame.header().is_final).collect();
        assert_eq!(ends, [false, false, false, false, true]);
        assert_eq!(frames.iter().map(frame::Frame::payload).collect::<Vec<_>>().concat(), text);
        for (at, frame) in frames.iter().enumerate() {
            assert_eq!(frame.payload().as_ptr(), text[at * FRAGMENT..].as_ptr(), "not a copy");
        }
    }

    #[test]
    fn a_short_text_is_one_frame() {
        for text in ["", "{}"] {
            let frames: Vec<frame::Frame> = fragments(Bytes::from(text)).collect();
            assert_eq!(frames, [frame::Frame::message(text, OpCode::Data(Data::Text), true)]);
        }
    }
}
