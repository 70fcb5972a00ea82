//! What a second `liminal` asks of the one that runs. So little of HTTP is needed for it that a client would be a
//! waste.
//!
//! Whoever is at the address in the lock file holds the lock on our own directory, so it may be shown the token.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// Calls the server at `address` (`http://ip:port`) with an empty body; the status and the body of its answer.
pub fn post(address: &str, path: &str, token: &str) -> io::Result<(u16, String)> {
    let socket = address.strip_prefix("http://").unwrap_or(address);
    let port = socket.rsplit(':').next().unwrap_or_default();
    // One of the names it always answers to, wherever it listens.
    let host = if port == "80" { "localhost".to_owned() } else { format!("localhost:{port}") };
    let mut stream = TcpStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    read_answer(&answer).ok_or_else(|| io::Error::other("it does not speak HTTP"))
}

fn read_answer(text: &str) -> Option<(u16, String)> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.lines().next()?.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}
