//! The last words of a process. Its stderr is always drained, so it never blocks there, and the end is kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;

/// How much is kept.
const KEPT: usize = 64 * 1024;

/// The last 64 KB a process wrote to stderr. Clones show the same.
#[derive(Debug, Clone)]
pub struct StderrTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    ended: watch::Receiver<bool>,
}

impl StderrTail {
    pub(super) fn drain(pipe: Receiver) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (end, ended) = watch::channel(false);
        tokio::spawn(read_all(pipe, Arc::clone(&kept), end));
        Self { kept, ended }
    }

    /// Of a process whose stderr goes elsewhere.
    pub(super) fn none() -> Self {
        let (_end, ended) = watch::channel(true);
        Self { kept: Arc::default(), ended }
    }

    /// What is kept at this moment, as text. A character that lost its beginning is left out.
    pub fn text(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let full = kept.len() == KEPT;
        let mut bytes = &*kept.make_contiguous();
        while full && bytes.first().is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {
            bytes = &bytes[1..];
        }
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Waits until all was read.
    pub(super) async fn drained(&self) {
        let mut ended = self.ended.clone();
        let _reader_gone = ended.wait_for(|ended| *ended).await.is_err();
    }
}

async fn read_all(mut pipe: Receiver, kept: Arc<Mutex<VecDeque<u8>>>, end: watch::Sender<bool>) {
    let mut chunk = vec![0; 8 * 1024];
    while let Ok(read) = pipe.read(&mut chunk).await
        && read > 0
    {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&chunk[..read]);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }
    let _nobody_waits = end.send(true);
}
