//! Requests from a second `liminal` to the running one. They need too little of HTTP for a client library.
//!
//! The server at the address in the lock file holds the lock on our own directory, so it may see the token.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// What to ask for: with a body it is posted.
pub enum Ask<'a> {
    Get,
    Post(&'a str),
}

/// What is at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// A server answered.
    Answers,
    /// The port is open, and nobody answered in time.
    Listens,
    Nobody,
}

/// Whether a server runs at `address` (`http://ip:port`).
pub fn presence(address: &str, patience: Duration) -> Presence {
    let socket = address.strip_prefix("http://").unwrap_or(address);
    let connected =
        socket.parse().ok().and_then(|at| TcpStream::connect_timeout(&at, patience).ok());
    let Some(stream) = connected else { return Presence::Nobody };
    let timed = stream.set_read_timeout(Some(patience));
    match timed.and_then(|()| exchange(stream, socket, "/api/health", None, &Ask::Get)) {
        Ok(_any) => Presence::Answers,
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Presence::Listens
        }
        Err(_closed) => Presence::Nobody,
    }
}

/// Posts an empty body to the server at `address` (`http://ip:port`). Returns the status and body of the response.
pub fn post(address: &str, path: &str, token: &str) -> io::Result<(u16, String)> {
    request(address, path, token, &Ask::Post(""))
}

pub fn request(address: &str, path: &str, token: &str, ask: &Ask<'_>) -> io::Result<(u16, String)> {
    let socket = address.strip_prefix("http://").unwrap_or(address);
    let stream = TcpStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    exchange(stream, socket, path, Some(token), ask)
}

fn exchange(
    mut stream: TcpStream,
    socket: &str,
    path: &str,
    token: Option<&str>,
    ask: &Ask<'_>,
) -> io::Result<(u16, String)> {
    let (method, body) = match ask {
        Ask::Get => ("GET", ""),
        Ask::Post(body) => ("POST", *body),
    };
    let port = socket.rsplit(':').next().unwrap_or_default();
    let host = if port == "80" { socket.trim_end_matches(":80") } else { socket };
    let credential =
        token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{credential}{kind}\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    read_answer(&answer).ok_or_else(|| io::Error::other("its response is not HTTP"))
}

fn read_answer(text: &str) -> Option<(u16, String)> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.lines().next()?.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}
