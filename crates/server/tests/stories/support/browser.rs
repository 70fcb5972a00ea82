//! One socket, as a page uses it.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use futures_util::{SinkExt, StreamExt};
use liminal_contract::{ClientMessage, Project, ServerMessage};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::in_time;

/// A page. Frames that no story has asked for yet wait, in order.
pub struct Browser {
    socket: WebSocketStream<TcpStream>,
    unseen: VecDeque<Value>,
    seen: Vec<Value>,
    /// The last `seq` it received of each session.
    told: HashMap<String, u64>,
    requests: u32,
}

impl Browser {
    /// Connects as a page does.
    pub async fn connect(host: &str, token: &str) -> Self {
        Self::try_connect(host, token).await.unwrap()
    }

    /// Tries to connect as a page does.
    pub async fn try_connect(host: &str, token: &str) -> Result<Self, Error> {
        let mut request = format!("ws://{host}/ws").into_client_request()?;
        let headers = request.headers_mut();
        headers.insert("Sec-WebSocket-Protocol", format!("liminal.1, {token}").parse().unwrap());
        headers.insert("Origin", format!("http://{host}").parse().unwrap());
        let stream = TcpStream::connect(host).await?;
        let limits = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, answer) = client_async_with_config(request, stream, Some(limits)).await?;
        assert_eq!(answer.headers()["sec-websocket-protocol"], "liminal.1");
        Ok(Self {
            socket,
            unseen: VecDeque::new(),
            seen: vec![],
            told: HashMap::new(),
            requests: 0,
        })
    }

    /// Sends a request, and waits for its answer.
    pub async fn ask(&mut self, message: ClientMessage) -> ServerMessage {
        let request_id = self.send(message).await;
        self.sees_reply(&request_id).await
    }

    /// Sends a request without waiting. Returns its id.
    pub async fn send(&mut self, message: ClientMessage) -> String {
        self.requests += 1;
        let request_id = format!("request-{}", self.requests);
        let mut frame = serde_json::to_value(message).unwrap();
        frame["requestId"] = json!(request_id);
        self.says(&frame.to_string()).await;
        request_id
    }

    /// Sends exactly this text.
    pub async fn says(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.unwrap();
    }

    /// Sends a binary message.
    pub async fn says_bytes(&mut self, bytes: &[u8]) {
        self.socket.send(Message::binary(bytes.to_vec())).await.unwrap();
    }

    /// Sends all of these at once, without reading in between.
    pub async fn floods(&mut self, texts: impl Iterator<Item = String>) {
        for text in texts {
            self.socket.feed(Message::text(text)).await.unwrap();
        }
        self.socket.flush().await.unwrap();
    }

    /// Sends something that the server may refuse to read.
    pub async fn tries_to_say(&mut self, text: &str) {
        let _may_be_refused = self.socket.send(Message::text(text)).await;
    }

    /// Sends requests without ever reading, until the server takes no more.
    pub async fn asks_until_nobody_listens(&mut self, text: &str) {
        let stream = self.socket.get_mut();
        stream.set_nodelay(true).unwrap();
        loop {
            let frame = masked(text);
            match stream.try_write(&frame) {
                Ok(length) if length == frame.len() => {}
                // Both buffers between us are full: it has stopped reading.
                Ok(_) => return,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    let writable =
                        tokio::time::timeout(std::time::Duration::from_secs(1), stream.writable())
                            .await;
                    if writable.is_err() {
                        return;
                    }
                }
                Err(_gone) => return,
            }
        }
    }

    pub async fn leaves(mut self) {
        self.socket.close(None).await.unwrap();
        while let Some(Ok(_)) = self.socket.next().await {}
    }

    /// The first frame for which `find` returns something. Earlier frames stay queued.
    pub async fn sees<T>(&mut self, what: &str, find: impl Fn(&Value) -> Option<T>) -> T {
        let mut looked_at = 0;
        loop {
            while looked_at < self.unseen.len() {
                if let Some(found) = find(&self.unseen[looked_at]) {
                    self.unseen.remove(looked_at);
                    return found;
                }
                looked_at += 1;
            }
            match in_time(self.socket.next()).await {
                Some(Some(Ok(Message::Text(text)))) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    self.seen.push(frame.clone());
                    self.counts(&frame);
                    self.unseen.push_back(frame);
                }
                Some(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
                other => panic!("waiting for {what}: {other:?}\n{}", self.story_so_far()),
            }
        }
    }

    /// Holds in every story: the changes of a session come in ascending order, or a page would drop one as old.
    fn counts(&mut self, frame: &Value) {
        let (Some(session), Some(seq)) = (frame["sessionId"].as_str(), frame["seq"].as_u64())
        else {
            return;
        };
        let before = self.told.insert(session.to_owned(), seq);
        if frame["type"] != "session:history" {
            assert!(before < Some(seq), "{seq} after {before:?}\n{}", self.story_so_far());
        }
    }

    /// Every frame it received so far.
    pub fn everything_seen(&self) -> impl Iterator<Item = &Value> {
        self.seen.iter()
    }

    /// The answer to a request.
    pub async fn sees_reply(&mut self, request_id: &str) -> ServerMessage {
        let what = format!("the reply to {request_id}");
        let frame = self
            .sees(&what, |frame| (frame["requestId"] == request_id).then(|| frame.clone()))
            .await;
        serde_json::from_value(frame).unwrap()
    }

    /// The next message of this type that answers no request.
    pub async fn sees_told(&mut self, kind: &str) -> ServerMessage {
        let told = |frame: &Value| {
            (frame["type"] == kind && frame["requestId"].is_null()).then(|| frame.clone())
        };
        let frame = self.sees(kind, told).await;
        serde_json::from_value(frame).unwrap()
    }

    /// The next error: its id and its code.
    pub async fn sees_error(&mut self) -> (Option<String>, String) {
        let error = |frame: &Value| {
            (frame["type"] == "error").then(|| {
                (
                    frame["requestId"].as_str().map(str::to_owned),
                    frame["code"].as_str().unwrap().to_owned(),
                )
            })
        };
        self.sees("an error", error).await
    }

    /// How the server closed the connection: its code.
    pub async fn sees_close(&mut self) -> u16 {
        loop {
            match in_time(self.socket.next()).await {
                Some(Some(Ok(Message::Close(Some(frame))))) => return frame.code.into(),
                Some(Some(Ok(Message::Close(None)))) => return 1005,
                Some(Some(Ok(_))) => {}
                other => panic!("waiting for the end: {other:?}\n{}", self.story_so_far()),
            }
        }
    }

    /// Makes a directory a project.
    pub async fn adds_project(&mut self, path: &str) -> Project {
        match self.ask(ClientMessage::ProjectAdd { path: path.into() }).await {
            ServerMessage::ProjectAdded { project } => project,
            other => panic!("{path} was not added: {other:?}"),
        }
    }

    /// All projects, as the sidebar would show them.
    pub async fn projects(&mut self) -> Vec<Project> {
        match self.ask(ClientMessage::ProjectList {}).await {
            ServerMessage::ProjectList { projects } => projects,
            other => panic!("no list: {other:?}"),
        }
    }

    /// The last frames received, for a story that failed.
    fn story_so_far(&self) -> String {
        const LAST: usize = 40;
        let earlier = self.seen.len().saturating_sub(LAST);
        let mut text = format!("received so far ({earlier} earlier ones left out):\n");
        for frame in &self.seen[earlier..] {
            let shown: String = frame.to_string().chars().take(500).collect();
            writeln!(text, "  {shown}").unwrap();
        }
        text
    }
}

/// A short text frame, masked with zeros.
fn masked(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).unwrap();
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}
