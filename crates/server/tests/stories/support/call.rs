//! One HTTP request, written by hand so that a story can send anything a stranger could.

use std::fmt::Write as _;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::in_time;

/// A request that is being put together.
#[must_use]
pub struct Call {
    connect_to: String,
    method: String,
    path: String,
    host: Option<String>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Call {
    /// To the server at `host`, with the matching `Host` header.
    pub fn new(host: &str, method: &str, path: &str) -> Self {
        Self {
            connect_to: host.into(),
            method: method.into(),
            path: path.into(),
            host: Some(host.into()),
            headers: vec![],
            body: vec![],
        }
    }

    /// With another `Host` header.
    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Without a `Host` header.
    pub fn no_host(mut self) -> Self {
        self.host = None;
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// From a page of this origin.
    pub fn origin(self, origin: &str) -> Self {
        self.header("Origin", origin)
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    /// As the handshake of a WebSocket.
    pub fn upgrade(self) -> Self {
        self.header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
    }

    pub async fn send(self) -> Answer {
        let what = format!("{} {}", self.method, self.path);
        in_time(self.exchange()).await.unwrap_or_else(|| panic!("no answer to {what}"))
    }

    async fn exchange(self) -> Answer {
        let is_upgrade = self.headers.iter().any(|(name, _)| name == "Upgrade");
        let connection = if is_upgrade { "Upgrade" } else { "close" };
        let mut head =
            format!("{} {} HTTP/1.1\r\nConnection: {connection}\r\n", self.method, self.path);
        if let Some(host) = &self.host {
            write!(head, "Host: {host}\r\n").unwrap();
        }
        if !self.body.is_empty() || self.method == "POST" {
            write!(head, "Content-Length: {}\r\n", self.body.len()).unwrap();
        }
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        head.push_str("\r\n");
        let mut stream = TcpStream::connect(&self.connect_to).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        // A server that refuses a long body may stop reading.
        let _may_be_refused = stream.write_all(&self.body).await;
        let mut bytes = Vec::new();
        let mut buffer = [0; 16 * 1024];
        while let Ok(length @ 1..) = stream.read(&mut buffer).await {
            bytes.extend_from_slice(&buffer[..length]);
            if is_whole(&bytes) {
                break;
            }
        }
        Answer::parse(&bytes)
    }
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let (head, body) = split(bytes).unwrap_or((bytes, b""));
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines();
        let status =
            lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        let headers: Vec<_> = headers.collect();
        let body = match headers.iter().any(|(_, value)| value == "chunked") {
            true => chunks(body),
            false => body.to_vec(),
        };
        let body = String::from_utf8_lossy(&body).into_owned();
        Self { status: status.unwrap_or(0), headers, body }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Refused, with the status and the contract's error body.
    pub fn is_refused_with(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.json()["code"], code, "{self:?}");
    }
}

/// Whether the whole answer to a handshake has arrived; the connection stays open even after a refusal.
fn is_whole(bytes: &[u8]) -> bool {
    let Some((head, body)) = split(bytes) else { return false };
    let head = String::from_utf8_lossy(head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    head.starts_with("http/1.1 101")
        || length.is_some_and(|length| length.parse() == Ok(body.len()))
}

/// Head and body.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some((&bytes[..at], &bytes[at + 4..]))
}

/// Decodes a chunked body. One without its end is truncated.
fn chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").expect("a length");
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 2 + length + 2..];
    }
}
