//! Full-text search over all transcripts: a separate index that its own thread fills from the journal.
//!
//! The index holds nothing that the journal lacks, so it may be behind, and is rebuilt when it is missing or damaged.
//! It knows which items match; titles and projects are looked up for each search.

mod gathered;
mod index;
mod matches;
mod query;
mod text;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use liminal_contract::{ErrorCode, Hit, ServerMessage, SessionId, Snippet};
use rusqlite::{Connection, OpenFlags};
use tokio::sync::watch;

use self::gathered::Gathered;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::store::SessionsFile;

/// The file in the data directory.
pub const FILE: &str = "search.db";

/// The number of hits when the request has no limit.
const USUAL: usize = 50;

/// A handle to the index.
pub struct Search {
    path: PathBuf,
    sessions: Arc<SessionsFile>,
    reader: Arc<Mutex<Option<Connection>>>,
    news: mpsc::Sender<index::News>,
    changed: Arc<Mutex<Gathered>>,
    indexed: watch::Receiver<u64>,
}

/// An index that was behind when it was searched.
#[derive(Debug)]
pub struct CatchingUp {
    indexed: watch::Receiver<u64>,
    rounds: u64,
}

impl CatchingUp {
    /// Waits until everything committed before the search can be found. False when the index was closed.
    pub async fn done(mut self) -> bool {
        self.indexed.wait_for(|indexed| *indexed >= self.rounds).await.is_ok()
    }
}

impl Search {
    /// Opens or creates `search.db` in a directory and starts to catch up with the journal.
    pub fn start(
        directory: &Path,
        journal: &Journal,
        sessions: Arc<SessionsFile>,
    ) -> Result<Self, Failure> {
        let path = directory.join(FILE);
        let (news, received) = mpsc::channel();
        let mut gathered = Gathered::default();
        // The first round is everything in the journal.
        gathered.begin_round();
        let changed = Arc::new(Mutex::new(gathered));
        let (feed, gathered) = (news.clone(), changed.clone());
        journal.on_commit(Box::new(move |session| {
            let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            if gathered.add(session.clone(), Instant::now()) {
                let _indexer_ended = feed.send(index::News::Changed);
            }
        }));
        let journal_path = directory.join(crate::journal::FILE);
        let indexer = index::Indexer::new(path.clone(), &journal_path).map_err(unusable)?;
        let (progress, indexed) = watch::channel(0);
        let gathered = changed.clone();
        let index = move || {
            lower_priority();
            indexer.run(&received, &gathered, &progress);
        };
        thread::Builder::new().name("search".into()).spawn(index).map_err(|error| {
            let message = format!("Search could not start: {error}. Restart Liminal Builder.");
            Failure::new(ErrorCode::InternalError, message)
        })?;
        Ok(Self { path, sessions, reader: Arc::default(), news, changed, indexed })
    }

    /// Removes a deleted session's text from the index. Returns when it is gone.
    pub async fn forget(&self, session: &SessionId) {
        let (done, wait) = tokio::sync::oneshot::channel();
        let _indexer_ended = self.news.send(index::News::Deleted(session.clone(), done));
        let _indexer_ended = wait.await;
    }

    /// Closes the index, so that its log is folded into it, and its connection to the journal.
    pub async fn close(&self) {
        // A search that runs right now keeps its connection until the process ends.
        if let Ok(mut reader) = self.reader.try_lock() {
            *reader = None;
        }
        let (done, wait) = tokio::sync::oneshot::channel();
        let _indexer_ended = self.news.send(index::News::Closing(done));
        let _indexer_ended = wait.await;
    }

    /// The matches, best first, and whether [`find_again`](Self::find_again) may find more once the index has caught
    /// up.
    pub async fn find(
        &self,
        query: String,
        limit: Option<u32>,
    ) -> Result<(ServerMessage, Option<CatchingUp>), Failure> {
        let rounds = self.changed.lock().unwrap_or_else(PoisonError::into_inner).rounds_needed();
        let is_behind = *self.indexed.borrow() < rounds;
        let found = self.look(query, limit, is_behind).await?;
        let catching_up = CatchingUp { indexed: self.indexed.clone(), rounds };
        Ok((found, is_behind.then_some(catching_up)))
    }

    /// The final result of a search whose first result came from an index that was behind.
    pub async fn find_again(
        &self,
        query: String,
        limit: Option<u32>,
    ) -> Result<ServerMessage, Failure> {
        self.look(query, limit, false).await
    }

    /// The query is plain text; nothing in it is special.
    async fn look(
        &self,
        query: String,
        limit: Option<u32>,
        behind: bool,
    ) -> Result<ServerMessage, Failure> {
        let limit = limit.map_or(USUAL, |limit| limit as usize).clamp(1, matches::NEWEST);
        let Some(wanted) = query::parse(&query) else {
            return Ok(ServerMessage::SearchResults {
                query,
                hits: Vec::new(),
                more: false,
                behind,
            });
        };
        let began = Instant::now();
        let (path, reader) = (self.path.clone(), self.reader.clone());
        let found = tokio::task::spawn_blocking(move || {
            let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
            let connection = match reader.take() {
                Some(connection) => connection,
                None => Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
            };
            let found = matches::best(&connection, &wanted, limit)?;
            // Not kept after an error: the index may be replaced then.
            *reader = Some(connection);
            Ok(found)
        })
        .await
        .map_err(|panic| {
            tracing::error!(%panic, "a search panicked");
            Failure::unexpected()
        })?
        .map_err(|error| {
            if index::is_damage(&error) {
                let _indexer_ended = self.news.send(index::News::Damaged(began));
            }
            unusable(error)
        })?;
        let more = found.len() > limit;
        let hits = found.into_iter().take(limit).filter_map(|found| self.hit(found)).collect();
        Ok(ServerMessage::SearchResults { query, hits, more, behind })
    }

    /// `None` when the session no longer exists.
    fn hit(&self, found: matches::Found) -> Option<Hit> {
        let record = self.sessions.get(&found.session).ok().flatten()?;
        let is_markdown = matches!(found.kind.as_str(), "message" | "thinking");
        let words = if is_markdown { text::unadorned(&found.snippet) } else { found.snippet };
        Some(Hit {
            session_id: found.session,
            project_id: record.project_id,
            title: record.title,
            cli_type: record.cli_type,
            item_id: found.item,
            index: found.index,
            at: found.at,
            kind: found.kind,
            snippet: snippet(&words),
        })
    }
}

/// Gives other threads priority: showing new output matters more than indexing it.
fn lower_priority() {
    // On Linux each thread has its own niceness; elsewhere this would slow down the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 5) {
        tracing::debug!(%error, "could not lower the priority of indexing");
    }
}

/// Splits a marked text into runs.
fn snippet(marked: &str) -> Vec<Snippet> {
    let mut runs = Vec::new();
    let mut matched = false;
    for run in marked.split([matches::BEGIN, matches::END]) {
        let text = text::unspaced(run);
        if !text.is_empty() {
            runs.push(Snippet { text: liminal_render::visible(&text), matched });
        }
        matched = !matched;
    }
    runs
}

fn unusable(error: rusqlite::Error) -> Failure {
    let message = format!(
        "The search index can't be used right now: {error}. \
         A damaged index is rebuilt automatically; try again in a moment."
    );
    Failure::new(ErrorCode::StoreCorrupt, message)
}

#[cfg(test)]
mod tests;
