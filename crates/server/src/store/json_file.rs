//! Changes to one file: applied in order, and on disk before anyone sees them.
//!
//! One thread owns the writing. A write starts at once; changes that arrive while it runs share the next. There is
//! no timer. A change that could not be written never happened: memory shows only what the disk has.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use super::document::{Document, Stamp, StoreError, keep_original, load, save};

/// Whether a change touched the document.
type Touched = bool;

/// Changes the document. The `Report` it returns is called with the result of the write.
type QueuedChange<D> = Box<dyn FnOnce(&mut D) -> (Touched, Report) + Send>;

/// Called in the order of the changes, once they are on disk or refused, before anyone can read a later state.
type Report = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A document in memory and on disk. Dropping it waits until every queued change is written.
#[derive(Debug)]
pub struct JsonFile<D: Document> {
    on_disk: Arc<Mutex<OnDisk<D>>>,
    changes: Option<mpsc::Sender<QueuedChange<D>>>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct OnDisk<D> {
    data_dir: PathBuf,
    state: Result<D, StoreError>,
    is_of_the_original: bool,
    stamp: Stamp,
}

impl<D: Document> JsonFile<D> {
    /// Reads the file. If it can't be understood, every later call fails until it is repaired.
    pub fn open(data_dir: &Path) -> Self {
        let mut on_disk = OnDisk {
            data_dir: data_dir.to_owned(),
            state: Ok(D::default()),
            is_of_the_original: false,
            stamp: Stamp::default(),
        };
        on_disk.read();
        let on_disk = Arc::new(Mutex::new(on_disk));
        let (changes, queue) = mpsc::channel();
        let owned = on_disk.clone();
        let writer = thread::Builder::new()
            .name(D::FILE.to_owned())
            .spawn(move || write_all(&owned, &queue))
            // Without the thread every change fails with `Stopping`; nothing is lost silently.
            .map_err(|error| tracing::error!(file = D::FILE, %error, "could not start the thread that writes it"))
            .ok();
        Self { on_disk, changes: Some(changes), writer }
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        lock(&self.on_disk).state.as_ref().err().cloned()
    }

    /// Shows the state on disk. No change is reported while `look` runs, so whatever it sends is in order with them.
    pub fn look<T>(&self, look: impl FnOnce(&D) -> T) -> Result<T, StoreError> {
        let mut on_disk = lock(&self.on_disk);
        on_disk.retry();
        match &on_disk.state {
            Ok(document) => Ok(look(document)),
            Err(error) => Err(error.clone()),
        }
    }

    /// Makes a change and waits until it is on disk. `change` sees every earlier change; when it fails,
    /// nothing is written.
    ///
    /// `tell` runs in the order of the changes, before anyone can [`look`](Self::look) past them.
    pub async fn change<T, E>(
        &self,
        change: impl FnOnce(&mut D) -> Result<T, E> + Send + 'static,
        tell: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        self.enqueue(Box::new(move |document| {
            let outcome = change(document);
            let touched = outcome.is_ok();
            let report: Report = Box::new(move |written| {
                let outcome = match written {
                    Ok(()) => outcome,
                    Err(error) => Err(E::from(error)),
                };
                if let Ok(value) = &outcome {
                    tell(value);
                }
                let _asker_left = answer.send(outcome);
            });
            (touched, report)
        }));
        answered.await.unwrap_or_else(|_dropped| Err(E::from(StoreError::Stopping)))
    }

    /// Makes a change without waiting for the disk. A failure is logged.
    pub fn change_later(&self, change: impl FnOnce(&mut D) + Send + 'static) {
        self.enqueue(Box::new(move |document| {
            change(document);
            let report: Report = Box::new(|written| {
                if let Err(error) = written {
                    tracing::warn!(%error, "a background change was not written");
                }
            });
            (true, report)
        }));
    }

    fn enqueue(&self, change: QueuedChange<D>) {
        if let Some(changes) = &self.changes {
            // If the writer is gone, the change is dropped and its caller gets `Stopping`.
            let _writer_gone = changes.send(change);
        }
    }
}

impl<D: Document> Drop for JsonFile<D> {
    fn drop(&mut self) {
        self.changes = None;
        if let Some(writer) = self.writer.take() {
            let _panicked = writer.join();
        }
    }
}

impl<D: Document> OnDisk<D> {
    fn read(&mut self) {
        match load(&self.data_dir) {
            Ok(loaded) => {
                self.state = Ok(loaded.document);
                self.is_of_the_original = loaded.is_of_the_original;
                self.stamp = loaded.stamp;
            }
            Err(error) => self.state = Err(error),
        }
    }

    /// An unusable file is read again each time: the user may have repaired it.
    fn retry(&mut self) {
        if self.state.is_err() {
            self.read();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn write_all<D: Document>(on_disk: &Mutex<OnDisk<D>>, queue: &mpsc::Receiver<QueuedChange<D>>) {
    while let Ok(first) = queue.recv() {
        let batch: Vec<QueuedChange<D>> = std::iter::once(first).chain(queue.try_iter()).collect();
        write_batch(on_disk, batch);
    }
}

fn write_batch<D: Document>(on_disk: &Mutex<OnDisk<D>>, batch: Vec<QueuedChange<D>>) {
    let (data_dir, before, is_of_the_original, stamp) = {
        let mut on_disk = lock(on_disk);
        on_disk.retry();
        let OnDisk { data_dir, state, is_of_the_original, stamp } = &*on_disk;
        (data_dir.clone(), state.clone(), *is_of_the_original, *stamp)
    };
    let mut document = match before {
        Ok(document) => document,
        Err(error) => {
            // A file we don't understand can't be changed; the changes see an empty document and fail.
            for change in batch {
                let (_touched, report) = change(&mut D::default());
                report(Err(error.clone()));
            }
            return;
        }
    };
    let mut reports = Vec::with_capacity(batch.len());
    for change in batch {
        reports.push(change(&mut document));
    }
    let is_changed = reports.iter().any(|(touched, _)| *touched);
    let written = if is_changed {
        let kept = if is_of_the_original { keep_original::<D>(&data_dir) } else { Ok(()) };
        kept.and_then(|()| save(&data_dir, &document, stamp))
    } else {
        Ok(stamp)
    };
    // The lock is held during the reports, so that a reader sees all changes or none.
    let mut on_disk = lock(on_disk);
    if let Ok(stamp) = written {
        on_disk.state = Ok(document);
        on_disk.is_of_the_original &= !is_changed;
        on_disk.stamp = stamp;
    }
    let written = written.map(|_stamp| ());
    for (touched, report) in reports {
        report(if touched { written.clone() } else { Ok(()) });
    }
}
