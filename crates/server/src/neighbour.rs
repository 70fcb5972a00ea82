//! Requests from a second `liminal` to the running one. They need too little of HTTP for a client library.
//!
//! The server at the address in the lock file holds the lock on our own directory, so it may see the token.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// What to ask for: with a body it is posted.
pub enum Ask<'a> {
    Get,
    Post(&'a str),
}

/// Posts an empty body to the server at `address` (`http://ip:port`). Returns the status and body of the response.
pub fn post(address: &str, path: &str, token: &str) -> io::Result<(u16, String)> {
    request(address, path, token, &Ask::Post(""))
}

pub fn request(address: &str, path: &str, token: &str, ask: &Ask<'_>) -> io::Result<(u16, String)> {
    let (method, body) = match ask {
        Ask::Get => ("GET", ""),
        Ask::Post(body) => ("POST", *body),
    };
    let socket = address.strip_prefix("http://").unwrap_or(address);
    let port = socket.rsplit(':').next().unwrap_or_default();
    let host = if port == "80" { socket.trim_end_matches(":80") } else { socket };
    let mut stream = TcpStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         {kind}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
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
