//! Sessions that were made outside become ours.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use liminal_contract::{CliType, ProjectId, SessionId, SessionListItem, Timestamp};
use liminal_outside::Found;

use futures_util::future::join_all;
use tokio::time::timeout;

use super::SessionService;
use crate::failure::Failure;
use crate::store::{SessionRecord, TitleBy};

/// How long an agent may take to start and list its sessions.
const LISTING: Duration = Duration::from_secs(20);

impl SessionService {
    /// Lists a session that was made outside. Its transcript is read from the agent when it is first opened.
    pub async fn adopt(
        &self,
        project: &ProjectId,
        id: SessionId,
        found: Found,
    ) -> Result<SessionListItem, Failure> {
        // Its agent keeps its history by directory, so it goes on where it began.
        let home = self.around.project_dir(project);
        let elsewhere = (found.cwd != home).then(|| found.cwd.to_string_lossy().into_owned());
        let record = SessionRecord {
            cli_type: id.cli_type(),
            id,
            project_id: project.clone(),
            archived: false,
            title: liminal_render::visible(&found.title),
            last_active_at: found.changed,
            created_at: found.began,
            agent_ref: None,
            policy: None,
            title_by: Some(TitleBy::Derived),
            worktree: None,
            directory: elsewhere,
            counts: None,
            branch: None,
            newer: None,
            request: None,
            other: serde_json::Map::new(),
        };
        self.around.sessions.put(record.clone()).await?;
        Ok(self.registry.lock().await.row(record))
    }

    /// What agents call, or called, sessions of ours.
    pub fn ours(&self) -> Result<HashSet<SessionId>, Failure> {
        let mut ours: HashSet<_> = self.around.refs.all().into_iter().collect();
        ours.extend(self.around.sessions.ids()?);
        Ok(ours)
    }

    /// Whether it is one of them. Asked for each of thousands, so it looks at none of the others.
    pub fn is_ours(&self, id: &SessionId) -> Result<bool, Failure> {
        Ok(self.around.refs.has(id) || self.around.sessions.get(id)?.is_some())
    }

    /// The sessions that agents list for a directory. Only agents that sessions of ours have are asked: asking starts
    /// them.
    pub async fn list_with_agents(
        &self,
        directory: &Path,
        is_meant: impl Fn(&CliType) -> bool,
    ) -> Vec<(SessionId, Found)> {
        let used: HashSet<CliType> = match self.around.sessions.ids() {
            Ok(ids) => ids.into_iter().map(|id| id.cli_type()).collect(),
            Err(_unreadable) => return Vec::new(),
        };
        let meant = |agent: &CliType| used.contains(agent) && is_meant(agent);
        let providers = self.around.registry.all().filter(|it| meant(it.cli_type()));
        let listings = providers.map(|provider| async move {
            let agent = provider.cli_type();
            match timeout(LISTING, provider.list_sessions(directory)).await {
                Ok(Ok(listed)) => (agent, listed.unwrap_or_default()),
                Ok(Err(error)) => {
                    tracing::info!(%agent, %error, "an agent did not list its sessions");
                    (agent, Vec::new())
                }
                Err(_too_slow) => (agent, Vec::new()),
            }
        });
        let now = Timestamp::from(SystemTime::now());
        let found = join_all(listings).await.into_iter().flat_map(|(agent, listed)| {
            listed.into_iter().filter_map(move |listed| {
                let id = SessionId::new(agent, &listed.agent_ref).ok()?;
                let at = listed.changed.unwrap_or(now);
                let title = listed.title.filter(|title| !title.trim().is_empty());
                let found = Found {
                    agent_ref: listed.agent_ref,
                    cwd: directory.to_owned(),
                    title: title
                        .unwrap_or_else(|| "Untitled".to_owned())
                        .chars()
                        .take(200)
                        .collect(),
                    said: None,
                    branch: None,
                    version: None,
                    began: at,
                    changed: at,
                    bytes: 0,
                };
                Some((id, found))
            })
        });
        found.collect()
    }
}
