//! Writes to a process. One task writes in order, so callers never wait for the pipe.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;
use tokio::sync::{mpsc, oneshot, watch};

use super::Exit;

/// Bytes that may be queued for a process that does not read. A message from the browser has at most 8 MiB.
const MOST_QUEUED: usize = 64 * 1024 * 1024;

/// The process ended, its stdin was closed, or it has not read for so long that the queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the process takes no more input")]
pub struct StdinClosed;

/// Writes to a process. Clones write to the same one.
#[derive(Debug, Clone)]
pub struct Stdin {
    queue: mpsc::UnboundedSender<Order>,
    queued: Arc<AtomicUsize>,
}

#[derive(Debug)]
enum Order {
    Write { bytes: Vec<u8>, written: Option<oneshot::Sender<()>> },
    Close,
}

impl Stdin {
    pub(super) fn over(pipe: Sender, exits: watch::Receiver<Option<Exit>>) -> Self {
        let (queue, orders) = mpsc::unbounded_channel();
        let queued = Arc::new(AtomicUsize::new(0));
        tokio::spawn(write_all(pipe, orders, Arc::clone(&queued), exits));
        Self { queue, queued }
    }

    /// For a process without input.
    pub(super) fn closed() -> Self {
        let (queue, _gone) = mpsc::unbounded_channel();
        Self { queue, queued: Arc::default() }
    }

    /// Queues these bytes. Queued does not mean delivered.
    pub fn queue(&self, bytes: Vec<u8>) -> Result<(), StdinClosed> {
        self.put(bytes, None)
    }

    /// Writes these bytes; returns once they are in the pipe of a living process.
    pub async fn write(&self, bytes: Vec<u8>) -> Result<(), StdinClosed> {
        let (written, done) = oneshot::channel();
        self.put(bytes, Some(written))?;
        done.await.map_err(|_dropped| StdinClosed)
    }

    /// Closes stdin after what is queued. Every later write fails.
    pub fn close(&self) {
        let _closed_already = self.queue.send(Order::Close);
    }

    fn put(&self, bytes: Vec<u8>, written: Option<oneshot::Sender<()>>) -> Result<(), StdinClosed> {
        let length = bytes.len();
        if self.queued.fetch_add(length, Ordering::Relaxed) > MOST_QUEUED {
            self.queued.fetch_sub(length, Ordering::Relaxed);
            return Err(StdinClosed);
        }
        self.queue.send(Order::Write { bytes, written }).map_err(|_ended| StdinClosed)
    }
}

/// Ends on a close, when the process ends, or when the pipe breaks. Dropping the queue then drops its tickets, which
/// notifies their owners.
async fn write_all(
    mut pipe: Sender,
    mut orders: mpsc::UnboundedReceiver<Order>,
    queued: Arc<AtomicUsize>,
    mut exits: watch::Receiver<Option<Exit>>,
) {
    // A grandchild may hold the other end open, so the pipe alone does not show that the process ended.
    let ended = async move {
        let _nobody_watches = exits.wait_for(Option::is_some).await;
    };
    let writing = async {
        while let Some(Order::Write { bytes, written }) = orders.recv().await {
            pipe.write_all(&bytes).await?;
            queued.fetch_sub(bytes.len(), Ordering::Relaxed);
            if let Some(written) = written {
                let _asker_left = written.send(());
            }
        }
        Ok::<(), std::io::Error>(())
    };
    tokio::select! {
        biased;
        () = ended => {}
        _broken_or_closed = writing => {}
    }
}
