//! Makes sessions that were made outside ours: one when it is opened, many in the background.
//!
//! What is still to be kept is in `keeping.json`, so a restart continues it. Doing one again changes nothing, so the
//! file may be behind.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use liminal_contract::{
    CliType, KeepingProgress, KeepingState, OutsideSession, Project, ProjectId, ServerMessage,
    SessionId,
};
use liminal_outside::Found;

use crate::failure::Failure;
use crate::feed::Hub;
use crate::outside::{self, Outside, Seen};
use crate::projects::Projects;
use crate::sessions::{SessionRequest, SessionService};
use crate::store::{KeepingFile, StoreError, Waiting};

/// The file is written after this many.
const WRITE_AFTER: usize = 50;
/// Browsers are told no more often than this.
const TELL_AFTER: Duration = Duration::from_millis(100);
/// How many are found by a query.
const MOST_FOUND: usize = 8;

pub struct Keeping {
    outside: Outside,
    file: KeepingFile,
    service: Arc<SessionService>,
    projects: Arc<Projects>,
    hub: Arc<Hub>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    progress: KeepingProgress,
    /// Counts up when the work starts and when the user stops it, so that an earlier worker knows that it is over.
    run: u64,
    /// What agents without files listed when they were asked.
    listed: HashMap<SessionId, Seen>,
}

impl State {
    /// How many wait although nobody works on it, because a worker gave up.
    fn left(&self) -> usize {
        if self.is_running() { 0 } else { self.waiting.len() }
    }

    /// Returns the run that is to be started, if one is.
    fn add(&mut self, new: Vec<Waiting>) -> Option<u64> {
        let is_running = self.is_running();
        let more = new.len();
        self.waiting.extend(new);
        if is_running {
            self.progress.total += more;
            return None;
        }
        if self.waiting.is_empty() {
            return None;
        }
        let (state, total) = (KeepingState::Keeping, self.waiting.len());
        self.progress = KeepingProgress { state, total, ..KeepingProgress::default() };
        self.run += 1;
        Some(self.run)
    }

    /// `None` if the user stopped meanwhile.
    fn give_up(&mut self, run: u64) -> Option<KeepingProgress> {
        if self.run != run {
            return None;
        }
        self.progress.state = KeepingState::Stopped;
        Some(self.progress)
    }

    fn is_running(&self) -> bool {
        self.progress.state == KeepingState::Keeping
    }
}

impl Keeping {
    /// Continues what was not finished before.
    pub fn start(
        outside: Outside,
        file: KeepingFile,
        service: Arc<SessionService>,
        projects: Arc<Projects>,
        hub: Arc<Hub>,
    ) -> Arc<Self> {
        let waiting = file.waiting();
        let keeping =
            Arc::new(Self { outside, file, service, projects, hub, state: Mutex::default() });
        keeping.enqueue(waiting);
        keeping
    }

    /// The sessions of a project that are not here.
    pub async fn of_project(&self, project: &ProjectId) -> Result<ServerMessage, Failure> {
        self.projects.get(project)?;
        let mut seen = self.seen().await?;
        seen.retain(|seen| seen.project.as_ref() == Some(project));
        Ok(self.list(project, seen))
    }

    /// How many there are in projects, and in other directories. If new ones are to be kept by themselves, they are.
    pub async fn everywhere(self: &Arc<Self>) -> Result<ServerMessage, Failure> {
        let (seen, projects) = (self.seen().await?, self.all_projects()?);
        let counted = seen.clone();
        let directories =
            tokio::task::spawn_blocking(move || outside::directories(&counted, &projects)).await;
        let directories = directories.map_err(|_panicked| Failure::unexpected())?;
        let automatic = self.file.is_automatic();
        let projects = if automatic { Vec::new() } else { outside::counts(&seen) };
        if automatic {
            self.keep_seen(seen).await?;
        }
        Ok(ServerMessage::OutsideList {
            project_id: None,
            sessions: Vec::new(),
            projects,
            directories,
            automatic,
        })
    }

    /// Those of all projects with these words in the title or the first message.
    pub async fn find(&self, query: String) -> Result<ServerMessage, Failure> {
        let sessions = outside::matching(self.seen().await?, &query, MOST_FOUND);
        Ok(ServerMessage::OutsideFound { query, sessions })
    }

    /// Asks agents that keep no files we know for their sessions in a project.
    pub async fn ask_agents(&self, project: &ProjectId) -> Result<ServerMessage, Failure> {
        let directory = PathBuf::from(self.projects.workable(project).await?.path);
        let ours = self.service.ours()?;
        let read: HashSet<&CliType> = self.outside.agents().collect();
        let listed = self.service.list_with_agents(&directory, |agent| !read.contains(agent)).await;
        let seen = listed.into_iter().filter(|(id, _)| !ours.contains(id)).map(|(id, found)| {
            Seen { id, found, project: Some(project.clone()), deleted_at: None }
        });
        let seen: Vec<Seen> = seen.collect();
        let remembered = seen.iter().map(|seen| (seen.id.clone(), seen.clone()));
        self.state().listed.extend(remembered);
        Ok(self.list(project, seen))
    }

    /// Lists sessions among ours at once. Their transcripts are read when they are opened.
    pub async fn adopt(
        &self,
        project: &ProjectId,
        cli_type: &CliType,
        refs: &[String],
    ) -> Result<(), Failure> {
        self.projects.get(project)?;
        let wanted: HashSet<SessionId> =
            refs.iter().filter_map(|agent_ref| SessionId::new(cli_type, agent_ref).ok()).collect();
        // Looked up among what was found, so that no other session can be named; what is here already is not among
        // them.
        let (mut seen, ours) = (self.seen().await?, self.service.ours()?);
        seen.extend(self.state().listed.values().filter(|it| !ours.contains(&it.id)).cloned());
        for each in seen {
            if wanted.contains(&each.id) && each.project.as_ref() == Some(project) {
                self.adopt_one(project, each.id, each.found).await?;
            }
        }
        Ok(())
    }

    /// Keeps sessions in the background; of all projects if none is named, and all if no session is. Returns how many.
    pub async fn keep(
        self: &Arc<Self>,
        projects: &[ProjectId],
        sessions: Option<HashSet<SessionId>>,
    ) -> Result<usize, Failure> {
        for project in projects {
            self.projects.get(project)?;
        }
        let mut seen = self.seen().await?;
        seen.retain(|seen| {
            (projects.is_empty() || seen.project.as_ref().is_some_and(|its| projects.contains(its)))
                && sessions.as_ref().is_none_or(|sessions| sessions.contains(&seen.id))
        });
        self.keep_seen(seen).await
    }

    async fn keep_seen(self: &Arc<Self>, seen: Vec<Seen>) -> Result<usize, Failure> {
        let known: HashSet<SessionId> =
            self.state().waiting.iter().map(|waiting| waiting.session_id.clone()).collect();
        let new: Vec<Waiting> = seen
            .into_iter()
            .filter(|seen| !known.contains(&seen.id))
            .filter_map(|Seen { id, project, .. }| {
                Some(Waiting { project_id: project?, session_id: id })
            })
            .collect();
        let count = new.len() + self.state().left();
        if count > 0 {
            self.enqueue(new);
            self.write().await?;
        }
        Ok(count)
    }

    /// Forgets what is still to be kept. What was kept until now stays.
    pub async fn stop(self: &Arc<Self>) -> Result<(), Failure> {
        let stopped = {
            let mut state = self.state();
            state.waiting.clear();
            state.run += 1;
            if state.progress.state == KeepingState::Keeping {
                state.progress.state = KeepingState::Stopped;
            }
            state.progress
        };
        self.hub.broadcast(ServerMessage::OutsideProgress { progress: stopped });
        Ok(self.write().await?)
    }

    /// Writes what waits at the moment of the writing, so that no older list replaces a newer one.
    async fn write(self: &Arc<Self>) -> Result<(), StoreError> {
        let keeping = Arc::clone(self);
        self.file.set_waiting(move || keeping.state().waiting.iter().cloned().collect()).await
    }

    pub fn progress(&self) -> KeepingProgress {
        self.state().progress
    }

    pub async fn set_automatic(&self, on: bool) -> Result<(), Failure> {
        Ok(self.file.set_automatic(on).await?)
    }

    /// Adds sessions to those that wait, and starts the work if it doesn't run.
    fn enqueue(self: &Arc<Self>, new: Vec<Waiting>) {
        if let Some(run) = self.state().add(new) {
            tokio::spawn(Arc::clone(self).work(run));
        }
    }

    /// One after the other, so that what the user does meanwhile isn't held up.
    async fn work(self: Arc<Self>, run: u64) {
        let (mut found, mut looked_for) = (HashMap::<SessionId, Found>::new(), 0);
        let (mut told, mut unwritten) = (Instant::now(), 0);
        while let Some(next) = self.next(run) {
            // What was asked for since may be newer than the last look.
            let total = self.progress().total;
            if total != looked_for {
                looked_for = total;
                found = match self.seen().await {
                    Ok(seen) => seen.into_iter().map(|seen| (seen.id, seen.found)).collect(),
                    Err(failure) => return self.give_up(run, &failure),
                };
            }
            let kept = self.keep_one(&next, found.remove(&next.session_id)).await;
            if let Err(failure) = &kept {
                tracing::warn!(session = %next.session_id, failure.message, "a session was not kept");
            }
            unwritten += 1;
            let Some(progress) = self.finished(run, kept.is_ok()) else { return };
            let is_over = progress.state == KeepingState::Done;
            if is_over || unwritten == WRITE_AFTER {
                unwritten = 0;
                if let Err(error) = self.write().await {
                    tracing::warn!(%error, "what is still to be kept was not written");
                }
            }
            if is_over || told.elapsed() >= TELL_AFTER {
                told = Instant::now();
                self.hub.broadcast(ServerMessage::OutsideProgress { progress });
            }
        }
    }

    /// What waits stays, in the file too: the next that is asked for starts the work again, or the next start does.
    fn give_up(&self, run: u64, failure: &Failure) {
        tracing::warn!(failure.message, "sessions made outside can't be kept");
        if let Some(progress) = self.state().give_up(run) {
            self.hub.broadcast(ServerMessage::OutsideProgress { progress });
        }
    }

    /// The next to be kept. It stays in front until it is finished.
    fn next(&self, run: u64) -> Option<Waiting> {
        let state = self.state();
        state.waiting.front().filter(|_| state.run == run).cloned()
    }

    /// Counts one. `None` if the user stopped meanwhile.
    fn finished(&self, run: u64, is_kept: bool) -> Option<KeepingProgress> {
        let mut state = self.state();
        if state.run != run {
            return None;
        }
        state.waiting.pop_front();
        state.progress.done += 1;
        state.progress.failed += usize::from(!is_kept);
        if state.waiting.is_empty() {
            state.progress.state = KeepingState::Done;
        }
        Some(state.progress)
    }

    /// A session that is here already is only read, if it was not.
    async fn keep_one(&self, one: &Waiting, found: Option<Found>) -> Result<(), Failure> {
        let id = &one.session_id;
        if let Some(found) = found
            && !self.service.is_ours(id)?
        {
            self.adopt_one(&one.project_id, id.clone(), found).await?;
        }
        if self.service.around().sessions.get(id)?.is_none() {
            return Ok(()); // Deleted here or there since it was asked for.
        }
        self.service.ask(id, SessionRequest::Read).await
    }

    async fn adopt_one(
        &self,
        project: &ProjectId,
        id: SessionId,
        found: Found,
    ) -> Result<(), Failure> {
        let session = self.service.adopt(project, id.clone(), found).await?;
        self.hub.broadcast(ServerMessage::SessionCreated {
            session_id: id,
            project_id: project.clone(),
            session,
        });
        Ok(())
    }

    fn list(&self, project: &ProjectId, seen: Vec<Seen>) -> ServerMessage {
        ServerMessage::OutsideList {
            project_id: Some(project.clone()),
            sessions: seen.into_iter().map(OutsideSession::from).collect(),
            projects: Vec::new(),
            directories: Vec::new(),
            automatic: self.file.is_automatic(),
        }
    }

    async fn seen(&self) -> Result<Vec<Seen>, Failure> {
        self.outside.found(self.service.ours()?, self.all_projects()?).await
    }

    fn all_projects(&self) -> Result<Vec<Project>, Failure> {
        Ok(self.projects.look(<[Project]>::to_vec)?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(number: u8) -> Waiting {
        let session_id = SessionId::parse(&format!("claude-code:{number}")).unwrap();
        Waiting { project_id: ProjectId::new("p"), session_id }
    }

    #[test]
    fn what_a_failure_left_is_kept_when_the_user_asks_again() {
        let mut state = State::default();
        let first = state.add(vec![waiting(1), waiting(2)]).unwrap();
        assert_eq!((state.left(), state.add(vec![waiting(3)])), (0, None), "it runs");
        assert_eq!(state.give_up(first).unwrap().state, KeepingState::Stopped);
        assert_eq!(state.left(), 3);
        assert_ne!(state.add(Vec::new()).unwrap(), first);
        let total = KeepingProgress { state: KeepingState::Keeping, total: 3, ..state.progress };
        assert_eq!((state.progress, state.left()), (total, 0));
    }

    #[test]
    fn a_worker_that_is_over_does_not_stop_the_next_one() {
        let mut state = State::default();
        let first = state.add(vec![waiting(1)]).unwrap();
        state.give_up(first);
        state.add(vec![waiting(2)]);
        assert_eq!(state.give_up(first), None);
        assert_eq!(state.progress.state, KeepingState::Keeping);
    }
}
