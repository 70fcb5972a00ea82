//! Going back in a session: another one gets the transcript up to a point, in the same workspace.
//!
//! Where the agent can go back itself it does; otherwise the new session's first message carries the transcript as
//! text. The files can go back too: in place, by an act like any other, or in a worktree that the new session gets.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use liminal_agents::{CliProvider, Fork, ForkPlace, Metered, NewSession, ProviderSession};
use liminal_contract::{
    AttachmentRef, BranchAt, BranchKind, BranchOf, ChangeAct, Details, ErrorCode, ItemId, Memory,
    MessageOrigin, MessageQueue, Prompt, QueuedMessage, ServerMessage, SessionId, SessionListItem,
    Timestamp, Worktree,
};
use liminal_stream::Source;
use tokio::sync::mpsc::UnboundedReceiver;
use uuid::Uuid;

use super::super::acting::{Acted, Expected};
use super::super::facts::Facts;
use super::super::failures::{not_found, read_only};
use super::super::task::SessionRequest;
use super::super::title::NEW_SESSION;
use super::SessionService;
use crate::failure::Failure;
use crate::journal::{Branch, Cut};
use crate::store::{BranchRecord, SessionRecord, TitleBy};

/// What the user wants to go back to, and what to do there.
pub struct Branching {
    pub session: SessionId,
    /// `None`: after everything.
    pub item: Option<ItemId>,
    pub at: BranchAt,
    pub kind: BranchKind,
    /// The first message of the new session.
    pub message: Option<(String, Vec<AttachmentRef>)>,
    /// `None`: the files stay as they are.
    pub restore: Option<Restoring>,
}

/// Files that go back too.
pub struct Restoring {
    /// `None`: those that tool calls have named since.
    pub paths: Option<Vec<String>>,
    /// The fingerprint of the preview.
    pub expect: Option<String>,
}

/// What became of the files, before the new session exists.
enum Files {
    Stay,
    /// They were put back.
    Restored(Acted),
    /// The new session gets a worktree with them, and a command that prepares it.
    InWorktree(Worktree, Option<String>),
}

/// A session that the agent has made, with what it remembers.
struct Begun {
    made: ProviderSession,
    fork: Option<Fork>,
    memory: Memory,
}

impl SessionService {
    /// Makes a session from the beginning of another one. If that fails, neither has changed.
    pub async fn branch(self: &Arc<Self>, wanted: Branching) -> Result<SessionListItem, Failure> {
        let Branching { session, item, at, kind, message, restore } = wanted;
        let record = self.record(&session)?;
        let (cut, is_own) = self.cut(&session, item.clone(), at).await?;
        if kind == BranchKind::Edit {
            if record.newer.is_some() {
                return Err(read_only(&session));
            }
            if !is_own || at != BranchAt::Before || message.is_none() {
                let what =
                    "an edit is of your own message: `at` is \"before\", and `content` replaces it";
                return Err(Failure::invalid(what).about(session));
            }
        }
        let prompt = match message {
            Some((content, attachments)) => Some(self.kept(&session, content, attachments).await?),
            None => None,
        };
        let provider = self.around.registry.resolve(&record.cli_type)?;
        let id = SessionId::new(&record.cli_type, &Uuid::new_v4().to_string());
        let id = id.map_err(|_valid| Failure::unexpected())?;
        let files = match restore {
            Some(restoring) => {
                let item =
                    item.ok_or_else(|| Failure::invalid("`restoreFiles` needs an `itemId`"))?;
                self.restored(&record, &id, (item, at), kind, restoring).await
            }
            None => Ok(Files::Stay),
        };
        let files = files.map_err(|failure| failure.about(session.clone()))?;
        let made = self.make_branch((&record, &id), kind, &cut, prompt, &files, &*provider).await;
        match made {
            Ok((new, output)) => {
                self.around.changes.share(&session, &id).await;
                if kind == BranchKind::Edit {
                    self.withdraw_plan(&session).await?;
                }
                let row = self.around.journal.clone();
                let asked = id.clone();
                let row = row.read(move |reader| reader.session(&asked)).await?;
                let row = {
                    let mut registry = self.registry.lock().await;
                    let begun = self.run(new.clone(), row, provider, Some((output, None)));
                    if let Files::InWorktree(_, Some(command)) = &files {
                        let _it_just_began = begun.ask(SessionRequest::SetUp(command.clone()));
                    }
                    registry.add(begun);
                    registry.row(new)
                };
                if let Files::Restored(Acted { done, .. }) = files {
                    let undo = match done.undo {
                        Some(undo) => self.around.changes.hand_over(&session, &id, undo).await,
                        None => None,
                    };
                    let details = Details { undo, ..Details::default() };
                    self.note_act(&id, done.summary, details).await;
                }
                Ok(row)
            }
            Err(failure) => {
                self.take_back((&record, &id), files).await;
                if kind == BranchKind::Edit
                    && let Err(failure) = self.revived(&session, &id, None).await
                {
                    tracing::warn!(%session, failure.message, "a session stays read-only");
                }
                Err(failure)
            }
        }
    }

    /// Puts the files back, or makes a worktree in which they are as they were.
    async fn restored(
        self: &Arc<Self>,
        record: &SessionRecord,
        new: &SessionId,
        (item, at): (ItemId, BranchAt),
        kind: BranchKind,
        Restoring { paths, expect }: Restoring,
    ) -> Result<Files, Failure> {
        let session = &record.id;
        if let (BranchKind::Branch, Some(old)) = (kind, &record.worktree) {
            let directory = self.directory(session).await?;
            let changes = &self.around.changes;
            let (state, commit) = changes.state_at(session, &directory, (&item, at)).await?;
            let project = self.around.projects.workable(&record.project_id).await?;
            let made = self.around.workspaces.make_like(&project, old, &commit).await?;
            changes.share(session, new).await;
            if let Err(failure) = changes.fill(new, Path::new(&made.path), &commit, &state).await {
                self.around.workspaces.unmake(&project, &made).await;
                changes.forget(new).await;
                return Err(failure);
            }
            self.around.trust.extend(Path::new(&project.path), &made.directory());
            let setup = self.around.projects.setup(&project.id);
            return Ok(Files::InWorktree(made, setup.filter(|command| !command.is_empty())));
        }
        let Some(expect) = expect else {
            return Err(Failure::invalid("`expect` is missing; ask for a preview first"));
        };
        let act = ChangeAct::RestoreFiles { item_id: item, at, paths };
        Ok(Files::Restored(self.acted(session, &act, Expected::As(&expect)).await?))
    }

    /// There is no new session after all.
    async fn take_back(
        self: &Arc<Self>,
        (record, new): (&SessionRecord, &SessionId),
        files: Files,
    ) {
        let taken_back = async {
            match files {
                Files::Stay => {}
                Files::Restored(acted) => {
                    let undo = acted.done.undo.clone();
                    drop(acted);
                    if let Some(undo) = undo {
                        let undo = ChangeAct::UndoAct { undo };
                        self.acted(&record.id, &undo, Expected::Anything).await?;
                    }
                }
                Files::InWorktree(made, _) => {
                    let project = self.around.projects.workable(&record.project_id).await?;
                    self.around.workspaces.unmake(&project, &made).await;
                    self.around.changes.forget(new).await;
                }
            }
            Ok::<_, Failure>(())
        };
        let taken_back = taken_back.await;
        if let Err(failure) = taken_back {
            tracing::warn!(session = %record.id, failure.message, "files were not put back");
        }
    }

    /// The old session is read-only from now on if it is edited.
    async fn make_branch(
        self: &Arc<Self>,
        (record, id): (&SessionRecord, &SessionId),
        kind: BranchKind,
        cut: &Cut,
        prompt: Option<Prompt>,
        files: &Files,
        provider: &dyn CliProvider,
    ) -> Result<(SessionRecord, UnboundedReceiver<Metered>), Failure> {
        if kind == BranchKind::Edit {
            let newer = Some(id.clone());
            let replace = |reply| SessionRequest::Replace { was: None, newer, reply };
            self.ask(&record.id, replace).await?;
        }
        let (begun, new) = self.begin_branch(record, id, kind, cut, files, provider).await?;
        self.list_branch(record, new, cut, prompt, begun).await
    }

    /// What is on both sides of the point, and whether the item is a message of the user's.
    async fn cut(
        &self,
        session: &SessionId,
        item: Option<ItemId>,
        at: BranchAt,
    ) -> Result<(Cut, bool), Failure> {
        let id = session.clone();
        let found = self.around.journal.read(move |reader| {
            let Some(name) = item else {
                let Some(row) = reader.session(&id)? else { return Ok(None) };
                return Ok(reader.cut(&id, row.next_index)?.map(|cut| (cut, false)));
            };
            let Some(item) = reader.item_named(&id, &name)? else { return Ok(None) };
            let before = item.index + u64::from(at == BranchAt::After);
            let is_own =
                matches!(&item.upsert.source, Source::Message { origin: MessageOrigin::User, .. });
            Ok(reader.cut(&id, before)?.map(|cut| (cut, is_own)))
        });
        found.await?.ok_or_else(|| {
            Failure::invalid("`itemId` names no item of this session").about(session.clone())
        })
    }

    /// Has the agent begin the new session: from its own memory, or else without any.
    async fn begin_branch(
        &self,
        record: &SessionRecord,
        id: &SessionId,
        kind: BranchKind,
        cut: &Cut,
        files: &Files,
        provider: &dyn CliProvider,
    ) -> Result<(Begun, SessionRecord), Failure> {
        let worktree = match files {
            Files::InWorktree(made, _) => Some(made.clone()),
            Files::Stay | Files::Restored(_) => record.worktree.clone(),
        };
        let directory = match files {
            Files::InWorktree(made, _) => made.directory(),
            Files::Stay | Files::Restored(_) => self.directory(&record.id).await?,
        };
        let asked = record.id.clone();
        let row = self.around.journal.read(move |reader| reader.session(&asked)).await?;
        let chosen = Facts::new(record.clone(), row, self.around.policy).chosen();
        let new = |fork: Option<Fork>| NewSession {
            project_dir: directory.clone(),
            session_id: Some(id.clone()),
            chosen: chosen.clone(),
            wanted: Vec::new(),
            fork,
        };
        let begun = match self.fork(record, cut, provider).await {
            Some(fork) => match provider.create_session(new(Some(fork.clone()))).await {
                Ok(made) => Some(Begun { made, fork: Some(fork), memory: Memory::Own }),
                Err(error) => {
                    tracing::info!(session = %record.id, %error, "the agent could not go back");
                    None
                }
            },
            None => None,
        };
        let begun = match begun {
            Some(begun) => begun,
            None => {
                let made = provider.create_session(new(None)).await?;
                let memory = match cut.last {
                    Some(_) => Memory::Transcript,
                    None => Memory::Nothing,
                };
                Begun { made, fork: None, memory }
            }
        };
        // Before the agent writes anything under this id that could look like a session made outside.
        if let Ok(theirs) = SessionId::new(&record.cli_type, &begun.made.agent_ref) {
            self.around.refs.add(theirs).await;
        }
        let now = Timestamp::from(SystemTime::now());
        let of = BranchOf {
            session_id: record.id.clone(),
            title: record.title.clone(),
            kind,
            memory: begun.memory,
        };
        let (title, title_by) = title(record, kind, cut);
        let new = SessionRecord {
            id: id.clone(),
            agent_ref: Some(begun.made.agent_ref.clone()),
            archived: false,
            title,
            title_by,
            last_active_at: now,
            created_at: now,
            branch: Some(BranchRecord {
                of,
                fork: begun.fork.clone(),
                owes_transcript: begun.memory == Memory::Transcript,
            }),
            newer: None,
            request: None,
            counts: None,
            worktree,
            ..record.clone()
        };
        Ok((begun, new))
    }

    /// Where the agent itself can go back to, if it can.
    async fn fork(
        &self,
        record: &SessionRecord,
        cut: &Cut,
        provider: &dyn CliProvider,
    ) -> Option<Fork> {
        let last = cut.last.as_ref()?;
        let place = match (&cut.next, &last.upsert.source) {
            (None, _) => ForkPlace::End,
            (Some((next, turn)), _) if *next == ItemId::user(turn) => {
                ForkPlace::Before(turn.clone())
            }
            (Some(_), Source::Message { content, origin: MessageOrigin::Agent, .. }) => {
                let (turn, words) = (last.upsert.turn_id.clone(), content.clone());
                ForkPlace::AfterWords { turn, words, nth: cut.same }
            }
            // In the middle of the agent's work, such as before a message that it took up there.
            (Some(_), _) => return None,
        };
        let agent_ref = record.agent_ref.as_deref().unwrap_or(record.id.local());
        provider.fork_at(&record.id, agent_ref, place).await
    }

    /// Writes the new session down: its transcript, its first message, its entry in the list, and then that it replaces
    /// the other one. Whatever of that a crash leaves is a whole session.
    async fn list_branch(
        &self,
        old: &SessionRecord,
        new: SessionRecord,
        cut: &Cut,
        prompt: Option<Prompt>,
        begun: Begun,
    ) -> Result<(SessionRecord, UnboundedReceiver<Metered>), Failure> {
        let queued = prompt.map(|Prompt { content, attachments }| QueuedMessage {
            message: Uuid::now_v7().to_string(),
            content,
            attachments,
            queued_at: new.created_at,
            request_id: None,
            handed: false,
            editing: false,
        });
        let messages = queued.into_iter().collect();
        let branch = Branch {
            from: old.id.clone(),
            to: new.id.clone(),
            before: cut.before,
            queue: MessageQueue { messages, ..MessageQueue::default() },
        };
        self.written(|journal, committed| journal.branch(branch, committed)).await;
        if let Err(failure) = self.list_copy(old, &new, cut).await {
            if let Err(error) = self.around.sessions.remove(new.id.clone()).await {
                tracing::warn!(session = %new.id, %error, "a session that nobody wants stays");
            }
            self.written(|journal, committed| journal.delete(&new.id, committed)).await;
            if let Ok(provider) = self.around.registry.resolve(&new.cli_type) {
                let _its_process_ends_anyway = provider.kill_session(&new.id).await;
            }
            return Err(failure);
        }
        Ok((new, begun.made.output))
    }

    /// Lists a session whose transcript was copied. The other one may have been deleted or edited meanwhile.
    async fn list_copy(
        &self,
        old: &SessionRecord,
        new: &SessionRecord,
        cut: &Cut,
    ) -> Result<(), Failure> {
        let id = new.id.clone();
        let copy = self.around.journal.read(move |reader| reader.session(&id)).await?;
        if cut.last.is_some() && copy.is_none_or(|copy| copy.next_index == 0) {
            return Err(not_found(&old.id));
        }
        self.around.sessions.put(new.clone()).await?;
        if new.branch.as_ref().is_none_or(|branch| branch.of.kind != BranchKind::Edit) {
            return Ok(());
        }
        let newer = new.id.clone();
        let replaced = self.update(&old.id, move |record| {
            record.newer.get_or_insert(newer);
        });
        match replaced.await {
            Ok(replaced) if replaced.newer.as_ref() == Some(&new.id) => {
                self.tell_changed(replaced).await;
                Ok(())
            }
            Ok(_by_another_edit) => Err(read_only(&old.id)),
            // There is nothing to replace any more, and the words are in the new session.
            Err(failure) if failure.code == ErrorCode::SessionNotFound => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// A session is gone: the one that it replaced is what its own replacement continues, or can be continued itself.
    pub(in crate::sessions) async fn revive_replaced_by(
        &self,
        gone: &SessionRecord,
    ) -> Result<(), Failure> {
        for record in self.around.sessions.of(&gone.project_id)? {
            if record.newer.as_ref() == Some(&gone.id) {
                self.revived(&record.id, &gone.id, gone.newer.clone()).await?;
            }
        }
        Ok(())
    }

    /// `gone` replaces a session no longer; nothing happens if another one does.
    async fn revived(
        &self,
        session: &SessionId,
        gone: &SessionId,
        newer: Option<SessionId>,
    ) -> Result<(), Failure> {
        let (was, kept) = (Some(gone.clone()), newer.clone());
        let record = self.update(session, move |record| {
            if record.newer == was {
                record.newer = kept;
            }
        });
        let record = record.await?;
        let was = Some(gone.clone());
        self.ask_running(session, |reply| SessionRequest::Replace { was, newer, reply }).await?;
        self.tell_changed(record).await;
        Ok(())
    }

    pub(in crate::sessions) async fn tell_changed(&self, record: SessionRecord) {
        let session = self.registry.lock().await.row(record);
        let session_id = session.id.clone();
        self.around.hub.broadcast(ServerMessage::SessionChanged { session_id, session });
    }
}

/// An edit goes by the same name; if nothing is left, the new message gives it one.
fn title(record: &SessionRecord, kind: BranchKind, cut: &Cut) -> (String, Option<TitleBy>) {
    if cut.last.is_none() && record.title_by != Some(TitleBy::User) {
        return (NEW_SESSION.to_owned(), None);
    }
    let title = match kind {
        BranchKind::Branch if !record.title.ends_with(" (branch)") => {
            format!("{} (branch)", record.title)
        }
        BranchKind::Edit | BranchKind::Branch => record.title.clone(),
    };
    (title, record.title_by.max(Some(TitleBy::Inherited)))
}
