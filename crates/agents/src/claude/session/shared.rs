//! What all sessions of the provider have in common.

use std::sync::Arc;

use liminal_contract::{AgentStatus, Details, SessionId};
use tokio::sync::mpsc;

use super::Patience;
use crate::StatusChange;
use crate::catalogue::AgentEntry;
use crate::claude::history::SessionFiles;
use crate::claude::trust::Trust;
use crate::process::GuardCommand;

/// What all sessions of the provider have in common.
pub(in crate::claude) struct Shared {
    pub(in crate::claude) entry: AgentEntry,
    pub(in crate::claude) guard: GuardCommand,
    pub(in crate::claude) statuses: mpsc::UnboundedSender<StatusChange>,
    pub(in crate::claude) patience: Patience,
    pub(in crate::claude) trust: Arc<dyn Trust>,
    pub(in crate::claude) files: SessionFiles,
}

impl Shared {
    /// What the user calls the agent.
    pub(in crate::claude) fn name(&self) -> String {
        self.entry.name.clone()
    }

    pub(in crate::claude) fn status(&self, session: &SessionId, status: AgentStatus) {
        self.status_with(session, status, None);
    }

    pub(in crate::claude) fn status_with(
        &self,
        session: &SessionId,
        status: AgentStatus,
        details: Option<Details>,
    ) {
        let _nobody_listens = self.statuses.send(StatusChange {
            cli_type: self.entry.cli_type.clone(),
            status,
            session_id: Some(session.clone()),
            attempt: None,
            retry_at: None,
            details,
        });
    }
}
