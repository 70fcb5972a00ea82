//! Changes to one file: applied in order, on disk before anyone sees them.
//!
//! One thread owns the writing. A write starts at once; changes that arrive while it runs share the next. There is
//! no timer. A change that could not be written never happened: memory shows only what the disk has.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use super::document::{Document, StoreError, keep_original, load, save};

/// Whether a change touched the document.
type Touched = bool;

/// Applies itself to the document; what it returns reports the fate of the write.
type Change<D> = Box<dyn FnOnce(&mut D) -> (Touched, Report) + Send>;

/// Called in the order of the changes, once they are on disk or refused, before anyone can read what came after.
type Report = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A document in memory and on disk. Dropping it waits for what was handed over.
#[derive(Debug)]
pub struct JsonFile<D: Document> {
    on_disk: Arc<Mutex<OnDisk<D>>>,
    changes: Option<mpsc::Sender<Change<D>>>,
    writer: Option<JoinHandle<()>>,
}

/// What the disk has.
#[derive(Debug)]
struct OnDisk<D> {
    data_dir: PathBuf,
    state: Result<D, StoreError>,
    is_of_the_original: bool,
}

impl<D: Document> JsonFile<D> {
    /// Reads the file. One that can't be understood is reported by every later call, until it was repaired.
    pub fn open(data_dir: &Path) -> Self {
        let mut on_disk = OnDisk {
            data_dir: data_dir.to_owned(),
            state: Ok(D::default()),
            is_of_the_original: false,
        };
        on_disk.read();
        let on_disk = Arc::new(Mutex::new(on_disk));
        let (changes, queue) = mpsc::channel();
        let owned = on_disk.clone();
        let writer = thread::Builder::new()
            .name(D::FILE.to_owned())
            .spawn(move || write_all(&owned, &queue))
            // Without the thread every change is answered with `Stopping`; nothing is lost silently.
            .map_err(|error| tracing::error!(file = D::FILE, %error, "no thread for writing"))
            .ok();
        Self { on_disk, changes: Some(changes), writer }
    }

    /// Why the file can't be used, when it can't.
    pub fn trouble(&self) -> Option<StoreError> {
        lock(&self.on_disk).state.as_ref().err().cloned()
    }

    /// Shows what the disk has. No change is reported while `look` runs, so what it hands on is in order with them.
    pub fn look<T>(&self, look: impl FnOnce(&D) -> T) -> Result<T, StoreError> {
        let mut on_disk = lock(&self.on_disk);
        on_disk.retry();
        match &on_disk.state {
            Ok(document) => Ok(look(document)),
            Err(error) => Err(error.clone()),
        }
    }

    /// Makes a change and waits until it is on disk. `change` sees every change made before it; when it refuses,
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
                    tracing::warn!(%error, "a change that nobody waited for was not written");
                }
            });
            (true, report)
        }));
    }

    fn enqueue(&self, change: Change<D>) {
        if let Some(changes) = &self.changes {
            // A writer that is gone drops the change, and who waits for it is told.
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
            }
            Err(error) => self.state = Err(error),
        }
    }

    /// A file in trouble is looked at again each time: the user may have repaired it.
    fn retry(&mut self) {
        if self.state.is_err() {
            self.read();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn write_all<D: Document>(on_disk: &Mutex<OnDisk<D>>, queue: &mpsc::Receiver<Change<D>>) {
    while let Ok(first) = queue.recv() {
        let batch: Vec<Change<D>> = std::iter::once(first).chain(queue.try_iter()).collect();
        write_batch(on_disk, batch);
    }
}

fn write_batch<D: Document>(on_disk: &Mutex<OnDisk<D>>, batch: Vec<Change<D>>) {
    let (data_dir, before, is_of_the_original) = {
        let mut on_disk = lock(on_disk);
        on_disk.retry();
        (on_disk.data_dir.clone(), on_disk.state.clone(), on_disk.is_of_the_original)
    };
    let mut document = match before {
        Ok(document) => document,
        Err(error) => {
            // Nothing may be built on a file we don't understand; the changes see an empty one and are refused.
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
    let written = if reports.iter().any(|(touched, _)| *touched) {
        let kept = if is_of_the_original { keep_original::<D>(&data_dir) } else { Ok(()) };
        kept.and_then(|()| save(&data_dir, &document))
    } else {
        Ok(())
    };
    // The lock is held over the reports, so that whoever looks sees them all or none.
    let mut on_disk = lock(on_disk);
    if written.is_ok() {
        on_disk.state = Ok(document);
        on_disk.is_of_the_original = false;
    }
    for (touched, report) in reports {
        report(if touched { written.clone() } else { Ok(()) });
    }
}
