//! Sessions that were made outside become ours.

use std::collections::HashSet;

use liminal_contract::{ProjectId, SessionId, SessionListItem};
use liminal_outside::Found;

use super::SessionService;
use crate::failure::Failure;
use crate::store::{SessionRecord, TitleBy};

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
}
