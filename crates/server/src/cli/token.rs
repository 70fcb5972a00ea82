//! `liminal token`: shows the token, or replaces it, also under a running server.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use super::Stopped;
use crate::data_dir;
use crate::door::Credential;
use crate::instance::Instance;

/// The token to print.
pub fn token(data_dir: &Path, rotate: bool) -> Result<String, Stopped> {
    let data_dir = data_dir::prepare(data_dir).map_err(Stopped::because)?;
    if rotate {
        match Instance::running(&data_dir) {
            Some(address) => rotate_running(&data_dir, &address)?,
            None => drop(Credential::replace(&data_dir).map_err(Stopped::because)?),
        }
    }
    Ok(Credential::load_or_create(&data_dir).map_err(Stopped::because)?.reveal())
}

/// The server does it itself, because it must also end every connection that came in with the old token. Whoever
/// is at that address holds the lock on our own directory, so it may be shown the token.
fn rotate_running(data_dir: &Path, address: &str) -> Result<(), Stopped> {
    let old = Credential::load_or_create(data_dir).map_err(Stopped::because)?.reveal();
    let status = post(address, "/api/token/rotate", &old).map_err(|error| {
        Stopped::because(format!("the server at {address} does not answer: {error}"))
    })?;
    if status == 204 {
        return Ok(());
    }
    Err(Stopped::because(format!(
        "the server at {address} did not replace the token (status {status})"
    )))
}

/// The status of one call with an empty body. So little is needed of HTTP here that a client would be a waste.
fn post(address: &str, path: &str, token: &str) -> std::io::Result<u16> {
    let host = address.strip_prefix("http://").unwrap_or(address);
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut status_line = String::new();
    BufReader::new(stream).read_line(&mut status_line)?;
    let status = status_line.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| std::io::Error::other("it does not speak HTTP"))
}
