//! What we say to a process. One task writes, in order; nobody who hands it bytes has to wait for the pipe.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;
use tokio::sync::{mpsc, oneshot, watch};

use super::Exit;

/// What may wait for a process that does not read. A message of the browser has at most 8 MiB.
const MOST_QUEUED: usize = 64 * 1024 * 1024;

/// The process can't be told: it ended, or its stdin was closed, or it has not read for very long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the process does not take any more input")]
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

    /// Of a process that gets none.
    pub(super) fn closed() -> Self {
        let (queue, _gone) = mpsc::unbounded_channel();
        Self { queue, queued: Arc::default() }
    }

    /// Puts these bytes behind what was put there before. That they are queued does not mean that they arrive.
    pub fn queue(&self, bytes: Vec<u8>) -> Result<(), StdinClosed> {
        self.put(bytes, None)
    }

    /// Writes these bytes; returns when a living process has them in its pipe.
    pub async fn write(&self, bytes: Vec<u8>) -> Result<(), StdinClosed> {
        let (written, done) = oneshot::channel();
        self.put(bytes, Some(written))?;
        done.await.map_err(|_dropped| StdinClosed)
    }

    /// Closes stdin behind what is queued. Every write after this fails.
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

/// Ends when told, when the process ended, or when the pipe is broken; what is queued then is dropped with its
/// tickets, which is how their owners hear of it.
async fn write_all(
    mut pipe: Sender,
    mut orders: mpsc::UnboundedReceiver<Order>,
    queued: Arc<AtomicUsize>,
    mut exits: watch::Receiver<Option<Exit>>,
) {
    // A grandchild may hold the other end open, so that the process is gone must be seen by itself.
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
