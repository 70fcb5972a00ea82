//! Just enough HTTP/1.1: one request per connection, a plain response or a stream of server-sent events.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Names in lowercase.
    pub headers: BTreeMap<String, String>,
    /// `Null` if there was none, or it is not JSON.
    pub body: Value,
}

impl Request {
    /// `None` if the client closed the connection instead.
    pub(crate) fn read(stream: &TcpStream) -> io::Result<Option<Self>> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        if headers.get("transfer-encoding").is_some_and(|how| how.contains("chunked")) {
            body = read_chunks(&mut reader)?;
        }
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Ok(Some(Self { method, path, headers, body }))
    }
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
        let start = body.len();
        body.resize(start + size, 0);
        reader.read_exact(&mut body[start..])?;
        reader.read_line(&mut String::new())?;
        if size == 0 {
            return Ok(body);
        }
    }
}

#[derive(Debug)]
pub struct Reply(pub(crate) TcpStream);

impl Reply {
    /// Sends a complete response.
    pub fn json(mut self, status: u16, body: &Value) -> io::Result<()> {
        let body = body.to_string();
        write!(
            self.0,
            "HTTP/1.1 {status} Fake\r\n\
             content-type: application/json\r\n\
             request-id: req_fake\r\n\
             content-length: {}\r\n\
             connection: close\r\n\r\n{body}",
            body.len()
        )?;
        self.0.flush()
    }

    /// Starts a response of events.
    pub fn events(mut self) -> io::Result<Sse> {
        write!(
            self.0,
            "HTTP/1.1 200 Fake\r\n\
             content-type: text/event-stream\r\n\
             request-id: req_fake\r\n\
             cache-control: no-cache\r\n\
             connection: close\r\n\r\n"
        )?;
        self.0.flush()?;
        Ok(Sse(self.0))
    }

    /// Never responds: returns when the client has disconnected.
    pub fn hang(self) -> io::Result<()> {
        wait_until_gone(&self.0)
    }
}

/// A stream of events. Ends when dropped.
#[derive(Debug)]
pub struct Sse(TcpStream);

impl Sse {
    /// Sends one event. Its name is the `type` of its data, as in both APIs.
    pub fn event(&mut self, data: &Value) -> io::Result<()> {
        let name = data["type"].as_str().unwrap_or("message");
        write!(self.0, "event: {name}\ndata: {data}\n\n")?;
        self.0.flush()
    }

    /// Sends nothing more: returns when the client has disconnected.
    pub fn hang(self) -> io::Result<()> {
        wait_until_gone(&self.0)
    }
}

fn wait_until_gone(mut stream: &TcpStream) -> io::Result<()> {
    let mut rest = [0; 1024];
    while stream.read(&mut rest)? > 0 {}
    Ok(())
}
