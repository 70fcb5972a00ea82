//! The running model: listens, routes each request to its API, and records it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::json;

use crate::http::{Reply, Request};
use crate::{messages, responses};

/// A model API on a free port of 127.0.0.1. Stops listening when dropped.
#[derive(Debug)]
pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    stopped: AtomicBool,
}

impl FakeModel {
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let shared = Arc::clone(&accepting);
                thread::spawn(move || {
                    let _the_agent_left = serve(stream, &shared);
                });
            }
        });
        Ok(Self { address, shared })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests of conversations so far: not those that count tokens or ask for a title, which agents send beside
    /// them at any time.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it notices the stop.
        let _stopped_already = TcpStream::connect(self.address);
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(request) = Request::read(&stream)? else { return Ok(()) };
    let reply = Reply(stream);
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages/count_tokens") => reply.json(200, &json!({"input_tokens": 120})),
        ("POST", "/v1/messages") => {
            remember(shared, &request);
            messages::answer(&request, reply)
        }
        ("POST", "/v1/responses") => {
            remember(shared, &request);
            responses::answer(&request, reply)
        }
        _ => {
            let error = json!({"type": "not_found_error", "message": "no such route"});
            reply.json(404, &json!({"type": "error", "error": error}))
        }
    }
}

fn remember(shared: &Shared, request: &Request) {
    // In the words of codex-acp.
    if request.body.to_string().contains("generate a very short title for a conversation") {
        return;
    }
    shared.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
}
