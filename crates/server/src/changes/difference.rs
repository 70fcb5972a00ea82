//! The difference in one file, part by part. Those looked at last stay in memory, so that their other parts need no
//! git and belong together even if the file changes meanwhile. So do the lists that they were chosen from: finding what
//! changed takes longer than reading one file.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use liminal_contract::{ChangeScope, DiffPart, ServerMessage, SessionId};
use liminal_git::{Change, Repository, Tree};
use liminal_render::{Comparison, DiffView, Layout};

use super::scope::Found;
use super::shown::{Shown, shown};
use super::{Changes, Place};
use crate::failure::Failure;

/// Each takes at most a few megabytes.
const MOST: usize = 4;

/// A part of a difference that a browser wants.
#[derive(Debug)]
pub struct PartAsked {
    pub session: SessionId,
    pub scope: ChangeScope,
    /// As listed.
    pub path: String,
    /// Its version in the list.
    pub listed: Option<String>,
    pub view: DiffView,
    pub layout: Layout,
    /// Its first row.
    pub from: usize,
    /// The difference that the browser already has parts of.
    pub version: Option<String>,
}

/// A difference, and its version.
#[derive(Debug, Clone)]
struct Known {
    session: SessionId,
    path: String,
    version: String,
    compared: Arc<Comparison>,
    note: Option<String>,
}

/// A list of changes.
#[derive(Debug)]
struct Listed {
    session: SessionId,
    scope: ChangeScope,
    /// Can read both versions.
    repository: Repository,
    files: Vec<Change>,
    /// The state that they lead to, and what could not be recorded in it.
    state: Option<(Tree, Vec<String>)>,
}

/// What was looked at last, the latest first.
#[derive(Debug, Default)]
pub(super) struct Compared {
    differences: Mutex<VecDeque<Known>>,
    lists: Mutex<VecDeque<Listed>>,
}

impl Compared {
    pub fn keep_list(&self, session: &SessionId, scope: &ChangeScope, found: Found) {
        let (session, scope) = (session.clone(), scope.clone());
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|each| each.session != session || each.scope != scope);
        let (repository, files) = (found.repository, found.changes.files);
        let state = found.state.map(|state| (state, found.left_out));
        lists.push_front(Listed { session, scope, repository, files, state });
        lists.truncate(MOST);
    }

    /// What could not be recorded in a state, if that is still known.
    pub fn left_out_of(&self, session: &SessionId, state: &Tree) -> Option<Vec<String>> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let states = lists.iter().filter(|each| each.session == *session);
        let mut states = states.filter_map(|each| each.state.as_ref());
        states.find(|(tree, _)| tree == state).map(|(_, left_out)| left_out.clone())
    }

    fn listed(&self, asked: &PartAsked) -> Option<(Repository, Change)> {
        let version = asked.listed.as_ref()?;
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |each: &&Listed| each.session == asked.session && each.scope == asked.scope;
        let list = lists.iter().find(is_it)?;
        let is_it =
            |file: &&Change| file.path.to_string() == asked.path && file.version() == *version;
        Some((list.repository.clone(), list.files.iter().find(is_it)?.clone()))
    }

    fn find(&self, asked: &PartAsked) -> Option<Known> {
        let version = asked.version.as_ref()?;
        let known = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&Known| {
            known.version == *version && known.path == asked.path && known.session == asked.session
        };
        known.iter().find(is_it).cloned()
    }

    fn keep(&self, asked: &PartAsked, compared: Comparison, note: Option<String>) -> Known {
        let (session, path) = (asked.session.clone(), asked.path.clone());
        let version = compared.version();
        let new = Known { session, path, version, compared: Arc::new(compared), note };
        let mut known = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|each| each.path != new.path || each.session != new.session);
        known.push_front(new.clone());
        known.truncate(MOST);
        new
    }
}

impl Changes {
    /// A part of the difference in one file. The path is looked up among the changes, so no other file can be named.
    pub async fn file(&self, place: &Place, asked: PartAsked) -> Result<ServerMessage, Failure> {
        let known = match self.compared.find(&asked) {
            Some(known) => known,
            None => match self.compare(place, &asked).await? {
                Shown::Lines { compared, note } => self.compared.keep(&asked, compared, note),
                Shown::Note { note, pictures } => {
                    let PartAsked { session: session_id, scope, path, .. } = asked;
                    return Ok(ServerMessage::ChangesFile {
                        session_id,
                        scope,
                        path,
                        html: String::new(),
                        split: None,
                        from: 0,
                        rows: 0,
                        parts: Vec::new(),
                        version: None,
                        note: Some(note),
                        pictures,
                    });
                }
            },
        };
        aside(move || part(known, asked)).await
    }

    async fn compare(&self, place: &Place, asked: &PartAsked) -> Result<Shown, Failure> {
        let view = asked.view;
        // Needs no turn: another list may be read meanwhile, which takes longer.
        let found = match self.compared.listed(asked) {
            Some(found) => Some(found),
            None => self.listed_now(place, asked).await?,
        };
        let Some((repository, change)) = found else {
            return Ok(Shown::noted("This file no longer differs.".into()));
        };
        let versions = repository.versions(&change).await?;
        aside(move || shown(&change, versions, view)).await
    }

    async fn listed_now(
        &self,
        place: &Place,
        asked: &PartAsked,
    ) -> Result<Option<(Repository, Change)>, Failure> {
        let _one_at_a_time = self.reading.turn(&place.directory).await;
        let repository = Repository::at(&place.directory).await?;
        let found = self.find(repository, place, &asked.session, &asked.scope).await?;
        let mut files = found.changes.files.into_iter();
        let change = files.find(|file| file.path.to_string() == asked.path);
        Ok(change.map(|change| (found.repository, change)))
    }
}

fn part(known: Known, asked: PartAsked) -> ServerMessage {
    let PartAsked { session: session_id, scope, path, layout, from, .. } = asked;
    let Known { compared, version, note, .. } = known;
    let parts = compared.parts(layout).into_iter();
    ServerMessage::ChangesFile {
        session_id,
        scope,
        path,
        html: compared.part(from, layout),
        split: (layout == Layout::SideBySide).then_some(true),
        from,
        rows: compared.rows(layout),
        parts: parts.map(|part| DiffPart { row: part.row, old: part.old, new: part.new }).collect(),
        version: Some(version),
        note,
        pictures: None,
    }
}

/// On a thread that may be busy for a while.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|_panicked| Failure::unexpected())
}
