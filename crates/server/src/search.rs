//! Finding anything ever said: a full-text index of its own, fed from the journal by its own thread.
//!
//! The index holds nothing that the journal does not, so it may be behind, and is made anew when it is missing or
//! damaged. It knows which items match; titles and projects are looked up when someone asks.

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

use self::gathered::Gathered;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::store::SessionsFile;

/// Its file in the data directory.
pub const FILE: &str = "search.db";

/// Hits given when nobody says how many.
const USUAL: usize = 50;

/// A handle to the index.
pub struct Search {
    path: PathBuf,
    sessions: Arc<SessionsFile>,
    reader: Arc<Mutex<Option<Connection>>>,
    news: mpsc::Sender<index::News>,
}

impl Search {
    /// Opens or makes `search.db` in a directory and begins to catch up with the journal.
    pub fn start(
        directory: &Path,
        journal: &Journal,
        sessions: Arc<SessionsFile>,
    ) -> Result<Self, Failure> {
        let path = directory.join(FILE);
        let (news, told) = mpsc::channel();
        let changed = Arc::new(Mutex::new(Gathered::default()));
        let (feed, gathered) = (news.clone(), changed.clone());
        journal.on_commit(Box::new(move |session| {
            let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            if gathered.add(session.clone(), Instant::now()) {
                let _indexer_ended = feed.send(index::News::Changed);
            }
        }));
        let journal_path = directory.join(crate::journal::FILE);
        let indexer = index::Indexer::new(path.clone(), &journal_path).map_err(unusable)?;
        let index = move || {
            stand_back();
            indexer.run(&told, &changed);
        };
        thread::Builder::new().name("search".into()).spawn(index).map_err(|error| {
            let message = format!("Search could not be started: {error}. Start again.");
            Failure::new(ErrorCode::InternalError, message)
        })?;
        Ok(Self { path, sessions, reader: Arc::default(), news })
    }

    /// Removes a deleted session's words from the index. Returns when they are gone.
    pub async fn forget(&self, session: &SessionId) {
        let (done, wait) = tokio::sync::oneshot::channel();
        let _indexer_ended = self.news.send(index::News::Deleted(session.clone(), done));
        let _indexer_ended = wait.await;
    }

    /// Closes the index, so that its log is folded into it, and the journal it reads.
    pub async fn close(&self) {
        // Whoever searches in this very moment closes it when the program ends.
        if let Ok(mut reader) = self.reader.try_lock() {
            *reader = None;
        }
        let (done, wait) = tokio::sync::oneshot::channel();
        let _indexer_ended = self.news.send(index::News::Closing(done));
        let _indexer_ended = wait.await;
    }

    /// What matches, best first. Anything typed is only text.
    pub async fn find(&self, asked: String, limit: Option<u32>) -> Result<ServerMessage, Failure> {
        let limit = limit.map_or(USUAL, |limit| limit as usize).clamp(1, matches::NEWEST);
        let Some(wanted) = query::parse(&asked) else {
            return Ok(ServerMessage::SearchResults {
                query: asked,
                hits: Vec::new(),
                more: false,
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
            // After an error there may be another index at the path.
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
        Ok(ServerMessage::SearchResults { query: asked, hits, more })
    }

    /// A match whose session is still there.
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

/// Lets others go first who need the processor as well: to see what was said comes before finding it.
fn stand_back() {
    // Linux gives each thread a niceness of its own; elsewhere this would slow down all of the program.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 5) {
        tracing::debug!(%error, "the index is made as quickly as everything else");
    }
}

/// The runs of a marked text.
fn snippet(marked: &str) -> Vec<Snippet> {
    let mut runs = Vec::new();
    let mut matched = false;
    for run in marked.split([matches::BEGIN, matches::END]) {
        let text = text::unspaced(run);
        if !text.is_empty() {
            runs.push(Snippet { text, matched });
        }
        matched = !matched;
    }
    runs
}

fn unusable(error: rusqlite::Error) -> Failure {
    let message = format!(
        "The search index can't be used now: {error}. A damaged one is made anew by itself; ask again in a moment."
    );
    Failure::new(ErrorCode::StoreCorrupt, message)
}

#[cfg(test)]
mod tests;
