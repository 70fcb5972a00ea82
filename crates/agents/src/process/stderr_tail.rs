//! The last output of a process that is for the user: on stderr, which is always drained, so that the process never
//! blocks on it, and the lines on stdout that are not messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;

use crate::secrets::Secrets;

/// In bytes.
const KEPT: usize = 64 * 1024;

/// The last 64 KB a process wrote to stderr. Clones share it.
#[derive(Debug, Clone)]
pub struct StderrTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    secrets: Arc<Mutex<Secrets>>,
    ended: watch::Receiver<bool>,
}

impl StderrTail {
    pub(super) fn drain(pipe: Receiver) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (end, ended) = watch::channel(false);
        let tail = Self { kept, secrets: Arc::default(), ended };
        tokio::spawn(read_all(pipe, tail.clone(), end));
        tail
    }

    /// For a process whose stderr goes elsewhere.
    pub(super) fn none() -> Self {
        let (_end, ended) = watch::channel(true);
        Self { kept: Arc::default(), secrets: Arc::default(), ended }
    }

    /// From here on the text is told without these words.
    pub(crate) fn conceal(&self, secrets: Secrets) {
        *self.secrets.lock().unwrap_or_else(PoisonError::into_inner) = secrets;
    }

    /// The current tail as text, without a character cut off at its start.
    pub fn text(&self) -> String {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let full = kept.len() == KEPT;
        let mut bytes = &*kept.make_contiguous();
        while full && bytes.first().is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {
            bytes = &bytes[1..];
        }
        secrets.scrub(&String::from_utf8_lossy(bytes))
    }

    pub(super) fn keep(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    /// Waits until everything was read.
    pub(super) async fn drained(&self) {
        let mut ended = self.ended.clone();
        let _reader_gone = ended.wait_for(|ended| *ended).await.is_err();
    }
}

async fn read_all(mut pipe: Receiver, tail: StderrTail, end: watch::Sender<bool>) {
    let mut chunk = vec![0; 8 * 1024];
    while let Ok(read) = pipe.read(&mut chunk).await
        && read > 0
    {
        tail.keep(&chunk[..read]);
    }
    let _nobody_waits = end.send(true);
}
