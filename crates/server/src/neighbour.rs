//! Requests from a second `liminal` to the running one. They need too little of HTTP for a client library.
//!
//! The server at the address in the lock file holds the lock on our own directory, so it may see the token.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// Posts an empty body to the server at `address` (`http://ip:port`). Returns the status and body of the response.
pub fn post(address: &str, path: &str, token: &str) -> io::Result<(u16, String)> {
    let socket = address.strip_prefix("http://").unwrap_or(address);
    let port = socket.rsplit(':').next().unwrap_or_default();
    let host = if port == "80" { socket.trim_end_matches(":80") } else { socket };
    let mut stream = TcpStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
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
