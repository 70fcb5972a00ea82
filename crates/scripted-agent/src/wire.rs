//! The agent's stdout: whole lines from many threads, and on purpose also what no agent should write.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// Where the agent writes. A client that is gone is no reason to end: end of input is, so failures are passed over.
pub(crate) struct Wire {
    out: Mutex<BufWriter<Stdout>>,
}

impl Wire {
    pub(crate) fn stdout() -> Self {
        Self { out: Mutex::new(BufWriter::with_capacity(64 * 1024, io::stdout())) }
    }

    /// Writes a message as one line.
    pub(crate) fn message(&self, message: &Value) {
        self.line(message.to_string().as_bytes());
    }

    /// Writes bytes as a line.
    pub(crate) fn line(&self, line: &[u8]) {
        let mut out = self.lock();
        let _client_gone = out.write_all(line).and_then(|()| out.write_all(b"\n"));
        let _client_gone = out.flush();
    }

    /// Writes the same line very often, as fast as it is taken.
    pub(crate) fn flood(&self, line: &[u8], count: u64) {
        for _ in 0..count {
            let mut out = self.lock();
            if out.write_all(line).and_then(|()| out.write_all(b"\n")).is_err() {
                return; // the client is gone
            }
        }
        let _client_gone = self.lock().flush();
    }

    /// Writes one line of `size` bytes between these two halves, without ever holding it.
    pub(crate) fn huge(&self, head: &str, size: u64, tail: &str) {
        let mut out = self.lock();
        let mut left = size.saturating_sub((head.len() + tail.len()) as u64);
        let block = vec![b'x'; 64 * 1024];
        let mut write = || -> io::Result<()> {
            out.write_all(head.as_bytes())?;
            while left > 0 {
                let part = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
                out.write_all(&block[..part])?;
                left -= part as u64;
            }
            out.write_all(tail.as_bytes())?;
            out.write_all(b"\n")?;
            out.flush()
        };
        let _client_gone = write();
    }

    fn lock(&self) -> MutexGuard<'_, BufWriter<Stdout>> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
