//! Comparisons: one message to several agents, each in a worktree of its own, until the user keeps one.
//!
//! A comparison only says which sessions belong together. Each is an ordinary session: it asks, fails and continues as
//! any other, and stays when the comparison is forgotten.

use std::sync::Arc;
use std::time::SystemTime;

use liminal_contract::{
    AttachmentRef, Compare, CompareAgent, CompareMember, ErrorCode, MemberState, ProjectId,
    ServerMessage, SessionId, Timestamp, WhenBusy,
};
use uuid::Uuid;

use super::service::{Send, SessionService, Start};
use super::task::SessionRequest;
use super::title;
use crate::failure::Failure;
use crate::workspaces::Wanted;

const FEWEST: usize = 2;
const MOST: usize = 6;

/// In characters, of the message in the name of a branch.
const LONGEST_NAME: usize = 30;

/// What is to be compared.
pub struct NewCompare {
    pub project: ProjectId,
    pub base: Option<String>,
    /// Whether to copy what is not committed.
    pub bring: bool,
    /// Markdown.
    pub content: String,
    pub attachments: Vec<AttachmentRef>,
    pub agents: Vec<CompareAgent>,
    /// The user knows that options skip questions.
    pub confirmed: bool,
    /// A UUID is also the comparison's id.
    pub request: Option<String>,
}

/// What happens to the sessions that are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    Stay,
    /// They are archived, and their worktrees discarded.
    Discard,
}

impl SessionService {
    /// Starts a comparison and returns it before the first agent has started. One that fails doesn't stop the others. A
    /// repeated request gets the comparison that it started.
    pub async fn compare(self: &Arc<Self>, mut new: NewCompare) -> Result<Compare, Failure> {
        if !(FEWEST..=MOST).contains(&new.agents.len()) {
            let what = format!("`agents` must name {FEWEST} to {MOST}");
            return Err(Failure::invalid(what));
        }
        if new.content.trim().is_empty() && new.attachments.is_empty() {
            return Err(Failure::invalid("`content` is empty; write what the agents should do"));
        }
        let id = new.request.take().filter(|id| Uuid::try_parse(id).is_ok());
        let id = id.unwrap_or_else(|| Uuid::new_v4().to_string());
        let _while_it_is_added = self.creating.turn(id.as_str()).await;
        if let Ok(before) = self.around.comparisons.get(&id) {
            return Ok(before);
        }
        let project = self.around.projects.workable(&new.project).await?;
        new.base = self.around.workspaces.base(&project, new.base).await?;
        let starting = |agent: &CompareAgent| CompareMember {
            agent: agent.clone(),
            state: MemberState::Starting {},
        };
        let compare = Compare {
            id,
            project_id: project.id,
            content: new.content.clone(),
            base: new.base.clone(),
            started_at: Timestamp::from(SystemTime::now()),
            members: new.agents.iter().map(starting).collect(),
            kept: None,
        };
        self.around.comparisons.add(compare.clone()).await?;
        let new = Arc::new(new);
        for at in 0..new.agents.len() {
            let (service, id, new) = (self.clone(), compare.id.clone(), new.clone());
            tokio::spawn(async move {
                let state = match service.start_member(&new, &new.agents[at]).await {
                    Ok(session_id) => MemberState::Started { session_id },
                    Err(failure) => MemberState::Failed { message: failure.message },
                };
                let settled = service
                    .change_compare(&id, move |compare| compare.members[at].state = state)
                    .await;
                if let Err(failure) = settled {
                    tracing::warn!(failure.message, "a comparison could not be kept");
                }
            });
        }
        Ok(compare)
    }

    async fn start_member(
        self: &Arc<Self>,
        new: &NewCompare,
        agent: &CompareAgent,
    ) -> Result<SessionId, Failure> {
        let words = title::derive(&new.content).unwrap_or_default();
        let words: String = words.chars().take(LONGEST_NAME).collect();
        let name = Some(format!("{words} {}", agent.cli_type));
        let start = Start {
            policy: agent.policy,
            worktree: Some(Wanted { base: new.base.clone(), name, bring: new.bring, setup: None }),
            options: agent.options.clone(),
            confirmed: new.confirmed,
            request: None,
        };
        let session = self.create(&new.project, &agent.cli_type, start, None).await?;
        let id = session.id.clone();
        self.around.hub.broadcast(ServerMessage::SessionCreated {
            session_id: id.clone(),
            project_id: session.project_id.clone(),
            session,
        });
        let send = Send {
            session: id.clone(),
            content: new.content.clone(),
            attachments: new.attachments.clone(),
            request_id: None,
            when_busy: WhenBusy::Refuse,
            sender: None,
        };
        self.send(send).await?;
        Ok(id)
    }

    /// Those of which a session is left, the newest first. One that came to nothing stays too: the user's words are
    /// nowhere else.
    pub fn comparisons(&self) -> Result<Vec<Compare>, Failure> {
        let mut all = self.around.comparisons.all()?;
        all.retain(|compare| {
            let mut sessions = compare.members.iter().filter_map(|member| member.state.session());
            let is_starting = |member: &CompareMember| member.state == MemberState::Starting {};
            compare.members.iter().any(is_starting)
                || compare.members.iter().all(|member| member.state.session().is_none())
                || sessions.any(|session| self.record(session).is_ok())
        });
        Ok(all)
    }

    /// Keeps one of the sessions. The others' worktrees can be brought back for a while. Of two browsers that keep
    /// different ones at once, the second is refused: between them they would discard everything.
    pub async fn keep(
        self: &Arc<Self>,
        id: &str,
        kept: &SessionId,
        others: Others,
    ) -> Result<Compare, Failure> {
        let _one_at_a_time = self.keeping.turn(id).await;
        let compare = self.around.comparisons.get(id)?;
        let discarded = MemberState::Discarded { session_id: kept.clone() };
        if compare.members.iter().any(|member| member.state == discarded) {
            let words = "Another session of this comparison was kept, and this one was discarded. To continue it, \
                         bring its worktree back in Settings.";
            return Err(Failure::new(ErrorCode::ActRefused, words).about(kept.clone()));
        }
        if !compare.members.iter().any(|member| started(member) == Some(kept)) {
            let what = "`sessionId` is not one of this comparison";
            return Err(Failure::invalid(what).about(kept.clone()));
        }
        let rest: Vec<SessionId> = match others {
            Others::Stay => Vec::new(),
            Others::Discard => compare
                .members
                .iter()
                .filter_map(started)
                .filter(|id| *id != kept)
                .cloned()
                .collect(),
        };
        let (mut discarded, mut failed) = (Vec::new(), None);
        for session in rest {
            match self.discard(&session).await {
                Ok(()) => discarded.push(session),
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            }
        }
        let kept = failed.is_none().then(|| kept.clone());
        let changed = self.change_compare(id, move |compare| {
            compare.kept = kept.or(compare.kept.take());
            for member in &mut compare.members {
                if let Some(session_id) = started(member).filter(|id| discarded.contains(id)) {
                    member.state = MemberState::Discarded { session_id: session_id.clone() };
                }
            }
        });
        let changed = changed.await?;
        failed.map_or(Ok(changed), Err)
    }

    /// Ends a session's agent, discards its worktree, and archives it.
    async fn discard(self: &Arc<Self>, session: &SessionId) -> Result<(), Failure> {
        if self.record(session).is_err() {
            return Ok(());
        }
        self.ask_running(session, SessionRequest::Kill).await?;
        self.discard_worktree(session).await?;
        let _until_all_know = self.changing().await;
        self.archive(session).await?;
        let session_id = session.clone();
        self.around.hub.broadcast(ServerMessage::SessionArchived { session_id });
        Ok(())
    }

    /// Changes a comparison and tells every browser.
    async fn change_compare(
        &self,
        id: &str,
        change: impl FnOnce(&mut Compare) + std::marker::Send + 'static,
    ) -> Result<Compare, Failure> {
        let hub = self.around.hub.clone();
        let tell = move |compare: &Compare| {
            hub.broadcast(ServerMessage::CompareChanged { compare: compare.clone() });
        };
        self.around.comparisons.update(id, change, tell).await
    }
}

fn started(member: &CompareMember) -> Option<&SessionId> {
    match &member.state {
        MemberState::Started { session_id } => Some(session_id),
        MemberState::Starting {} | MemberState::Failed { .. } | MemberState::Discarded { .. } => {
            None
        }
    }
}
