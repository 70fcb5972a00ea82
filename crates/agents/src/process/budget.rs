//! How much of one process may be read and not yet committed. Owns the counting; who waits is the reader.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::Charge;

/// The limit of one process.
const BYTES: u32 = 8 * 1024 * 1024;

/// What a line costs beyond its length: what it is parsed into has a size of its own, and a flood of tiny lines
/// must not be cheaper than it is.
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
    /// A budget of this many bytes.
    pub fn new(bytes: u32) -> Self {
        Self { free: Arc::new(Semaphore::new(bytes as usize)), size: bytes }
    }

    /// Waits until a line of this length fits. One that is larger than all of it waits until it is alone.
    pub async fn charge(&self, line: usize) -> Charge {
        let bytes = u32::try_from(line.saturating_add(PER_LINE)).unwrap_or(u32::MAX).min(self.size);
        match Arc::clone(&self.free).acquire_many_owned(bytes).await {
            Ok(permit) => Charge(Some(permit)),
            // The semaphore is never closed; were it, not to count is better than not to read.
            Err(_closed) => Charge(None),
        }
    }

    /// What is held at this moment.
    pub fn held(&self) -> usize {
        self.size as usize - self.free.available_permits()
    }
}
