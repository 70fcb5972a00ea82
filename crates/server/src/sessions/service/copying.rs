//! Continues a session in a copy, while somebody works on the original elsewhere.

use liminal_contract::{ErrorCode, SessionId, SessionListItem};
use uuid::Uuid;

use super::SessionService;
use crate::failure::Failure;
use crate::store::{SessionRecord, TitleBy};

impl SessionService {
    /// Lists the copy. It is read from the original when it is opened, and the agent makes its own copy with the first
    /// message.
    pub async fn copy(&self, session: &SessionId) -> Result<SessionListItem, Failure> {
        let original = self.record(session)?;
        let provider = self.around.registry.resolve(&original.cli_type)?;
        if !provider.copies() {
            let what = "This agent can't continue a session in a copy.";
            return Err(Failure::new(ErrorCode::InvalidMessage, what).about(session.clone()));
        }
        let id = SessionId::new(&original.cli_type, &Uuid::new_v4().to_string());
        let id = id.map_err(|_impossible| Failure::unexpected())?;
        let agent_ref = original.agent_ref.clone();
        let record = SessionRecord {
            id: id.clone(),
            title: format!("{} (copy)", original.title),
            title_by: Some(TitleBy::Derived),
            archived: false,
            agent_ref: None,
            // The directory is the original's, even if that is a worktree which only the original may remove.
            directory: original
                .worktree
                .as_ref()
                .map(|tree| tree.path.clone())
                .or(original.directory),
            worktree: None,
            counts: None,
            copied_from: Some(agent_ref.unwrap_or_else(|| session.local().to_owned())),
            ..original
        };
        self.around.sessions.put(record.clone()).await?;
        Ok(self.registry.lock().await.row(record))
    }
}
