//! New sessions, and the options that they start with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use liminal_agents::{NewSession, OptionChange};
use liminal_contract::{
    CliType, OptionValue, Policy, ProjectId, SessionListItem, Timestamp, Worktree,
};
use uuid::Uuid;

use super::SessionService;
use crate::failure::Failure;
use crate::feed::Outbox;
use crate::sessions::task::{SessionRequest, choice_of};
use crate::sessions::title::NEW_SESSION;
use crate::store::SessionRecord;
use crate::workspaces::Wanted;

/// How a new session starts.
#[derive(Default)]
pub struct Start {
    /// `None`: the server's.
    pub policy: Option<Policy>,
    /// `None`: it works in the project's directory.
    pub worktree: Option<Wanted>,
    /// Values of the agent's own options, by their ids.
    pub options: BTreeMap<String, OptionValue>,
    /// The user knows that they skip questions.
    pub confirmed: bool,
    /// Only a UUID is recognised when it is repeated.
    pub request: Option<String>,
}

impl SessionService {
    /// Creates a session, which `creator` follows. If that fails, neither an entry nor a process is left. A repeated
    /// request gets the session that it created, also if it is still being created.
    pub async fn create(
        self: &Arc<Self>,
        project: &ProjectId,
        cli_type: &CliType,
        start: Start,
        creator: Option<&Arc<Outbox>>,
    ) -> Result<SessionListItem, Failure> {
        let Start { policy, worktree, options, confirmed, request } = start;
        let request = request.filter(|id| Uuid::try_parse(id).is_ok());
        let mut _while_it_is_created = None;
        if let Some(request) = &request {
            _while_it_is_created = Some(self.creating.turn(request.as_str()).await);
            if let Some(record) = self.around.sessions.created_by(request)? {
                return Ok(self.registry.lock().await.row(record));
            }
        }
        let provider = self.around.registry.resolve(cli_type)?;
        let project = self.around.projects.workable(project).await?;
        let project_dir = PathBuf::from(&project.path);
        let wanted = self.wanted(&project_dir, cli_type, options, confirmed);
        let mut chosen = self.around.choices.last(&project_dir, cli_type);
        chosen.retain(|(id, _)| wanted.iter().all(|change| change.id != *id));
        let (worktree, setup) = match worktree {
            Some(wanted) => self.make_worktree(&project, wanted).await?,
            None => (None, None),
        };
        let directory = worktree.as_ref().map_or(project_dir.clone(), Worktree::directory);
        let new = NewSession {
            project_dir: directory,
            session_id: None,
            chosen,
            wanted: wanted.clone(),
            fork: None,
        };
        let made = match provider.create_session(new).await {
            Ok(made) => made,
            Err(error) => {
                if let Some(worktree) = &worktree {
                    self.around.workspaces.unmake(&project, worktree).await;
                }
                return Err(error.into());
            }
        };
        let now = Timestamp::from(SystemTime::now());
        let id = made.session_id;
        let record = SessionRecord {
            agent_ref: (made.agent_ref != id.local()).then_some(made.agent_ref),
            id: id.clone(),
            project_id: project.id.clone(),
            cli_type: cli_type.clone(),
            archived: false,
            title: NEW_SESSION.to_owned(),
            last_active_at: now,
            created_at: now,
            policy,
            title_by: None,
            worktree,
            directory: None,
            counts: None,
            branch: None,
            newer: None,
            request,
            other: serde_json::Map::new(),
        };
        if let Err(error) = self.around.sessions.put(record.clone()).await {
            if let Err(error) = provider.kill_session(&id).await {
                tracing::warn!(session = %id, %error, "could not end a session that could not be listed");
            }
            if let Some(worktree) = &record.worktree {
                self.around.workspaces.unmake(&project, worktree).await;
            }
            return Err(error.into());
        }
        self.remember(&project_dir, cli_type, wanted, confirmed).await;
        // An empty commit: from now on the journal knows this session, and opening it needs no agent.
        self.around.journal.commit(&id, 0, Vec::new(), Box::new(|| {}));
        let mut registry = self.registry.lock().await;
        let session = self.run(record.clone(), None, provider, Some((made.output, creator)));
        if let Some(command) = setup {
            let _it_just_began = session.ask(SessionRequest::SetUp(command));
        }
        registry.add(session);
        Ok(registry.row(record))
    }

    /// The user's options, each with whether it is confirmed in this project.
    fn wanted(
        &self,
        project: &Path,
        agent: &CliType,
        options: BTreeMap<String, OptionValue>,
        confirmed: bool,
    ) -> Vec<OptionChange> {
        let wanted = |(id, value)| {
            let mut change = OptionChange { id, value, confirmed };
            change.confirmed |=
                self.around.choices.is_confirmed(project, agent, &choice_of(&change));
            change
        };
        options.into_iter().map(wanted).collect()
    }

    /// Keeps the options for the next session. It exists already, so one that can't be kept is only logged.
    async fn remember(
        &self,
        project: &Path,
        agent: &CliType,
        wanted: Vec<OptionChange>,
        confirmed: bool,
    ) {
        let choices = &self.around.choices;
        for change in wanted {
            if confirmed {
                choices.confirm(project, agent, &choice_of(&change)).await;
            }
            if let Err(error) = choices.choose(project, agent, change.id, change.value).await {
                tracing::warn!(%error, "an option was not kept for new sessions");
            }
        }
    }
}
