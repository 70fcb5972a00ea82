//! Limits how much of one process's output may be read but not yet committed. It only counts; the reader waits.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::Charge;

/// Per process.
const BYTES: u32 = 8 * 1024 * 1024;

/// The cost of a line in bytes beyond its length: the parsed form takes memory too, and a flood of tiny lines must not
/// look cheap.
const PER_LINE: usize = 512;

/// The bytes of one process that may be on their way from its stdout to the journal: 8 MB.
#[derive(Debug, Clone)]
pub struct Budget {
    free: Arc<Semaphore>,
    size: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(BYTES)
    }
}

impl Budget {
    pub fn new(bytes: u32) -> Self {
        Self { free: Arc::new(Semaphore::new(bytes as usize)), size: bytes }
    }

    /// Waits until a line of this many bytes fits. One larger than the whole budget waits until nothing else is held.
    pub async fn charge(&self, line: usize) -> Charge {
        let bytes = u32::try_from(line.saturating_add(PER_LINE)).unwrap_or(u32::MAX).min(self.size);
        match Arc::clone(&self.free).acquire_many_owned(bytes).await {
            Ok(permit) => Charge(Some(permit)),
            // The semaphore is never closed. If it were, reading uncounted beats not reading.
            Err(_closed) => Charge(None),
        }
    }

    /// Bytes held right now.
    pub fn held(&self) -> usize {
        self.size as usize - self.free.available_permits()
    }
}
