//! The agent's stdout: whole lines from many threads and, on purpose, also output that no agent should write.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// Write errors are ignored: the agent ends when its input ends, not when its client stops reading.
pub(crate) struct Wire {
    out: Mutex<BufWriter<Stdout>>,
}

impl Wire {
    pub(crate) fn stdout() -> Self {
        Self { out: Mutex::new(BufWriter::with_capacity(64 * 1024, io::stdout())) }
    }

    pub(crate) fn message(&self, message: &Value) {
        self.line(message.to_string().as_bytes());
    }

    pub(crate) fn line(&self, line: &[u8]) {
        let mut out = self.lock();
        let _client_gone = out.write_all(line).and_then(|()| out.write_all(b"\n"));
        let _client_gone = out.flush();
    }

    /// Writes the same line very often, as fast as it is read.
    pub(crate) fn flood(&self, line: &[u8], count: u64) {
        for _ in 0..count {
            let mut out = self.lock();
            if out.write_all(line).and_then(|()| out.write_all(b"\n")).is_err() {
                return; // the client is gone
            }
        }
        let _client_gone = self.lock().flush();
    }

    /// Writes one line of `size` bytes between these two halves, without holding it in memory.
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
