use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use liminal_contract::{
    Answer, ItemId, McpAct, OptionValue, OutcomeBy, SessionId, TaskAct, TurnId,
};

use super::*;
use crate::{AgentPrompt, Fork, ForkPlace, LoadSession, NewSession, ProviderSession, TaskOutput};

/// Has only a name and a count of its shutdowns.
struct Silent {
    cli_type: CliType,
    ended: Arc<AtomicUsize>,
}

#[async_trait]
impl CliProvider for Silent {
    fn cli_type(&self) -> &CliType {
        &self.cli_type
    }
    async fn create_session(&self, _new: NewSession) -> Result<ProviderSession, ProviderError> {
        Err(ProviderError::PermissionClosed)
    }
    async fn load_session(&self, _load: LoadSession) -> Result<ProviderSession, ProviderError> {
        Err(ProviderError::PermissionClosed)
    }
    async fn send_message(
        &self,
        _session: &SessionId,
        _turn: &TurnId,
        _prompt: &AgentPrompt,
    ) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn steer(&self, _: &SessionId, _: &str, _: &AgentPrompt) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn fork_at(&self, _: &SessionId, _: &str, _: ForkPlace) -> Option<Fork> {
        None
    }
    async fn cancel_turn(&self, _session: &SessionId) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn answer(
        &self,
        _session: &SessionId,
        _item: &ItemId,
        _answer: Answer,
        _by: OutcomeBy,
    ) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn set_option(
        &self,
        _: &SessionId,
        _: &str,
        _: OptionValue,
    ) -> Result<(), ProviderError> {
        Ok(())
    }

    async fn act_on_task(
        &self,
        _: &SessionId,
        _: &str,
        _: TaskAct,
    ) -> Result<Option<TaskOutput>, ProviderError> {
        Ok(None)
    }
    async fn act_on_mcp(&self, _: &SessionId, _: &str, _: McpAct) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn kill_session(&self, _session: &SessionId) -> Result<(), ProviderError> {
        Ok(())
    }
    fn is_alive(&self, _session: &SessionId) -> bool {
        false
    }
    async fn reconnect(&self, _session: Option<&SessionId>) -> Result<(), ProviderError> {
        Ok(())
    }
    async fn shutdown(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

fn id(text: &str) -> CliType {
    CliType::parse(text).unwrap()
}

fn registry(ids: &[&str]) -> (ProviderRegistry, Arc<AtomicUsize>) {
    let ended = Arc::new(AtomicUsize::new(0));
    let mut registry = ProviderRegistry::new();
    for name in ids {
        registry.register(Arc::new(Silent { cli_type: id(name), ended: Arc::clone(&ended) }));
    }
    (registry, ended)
}

#[test]
fn each_agent_has_its_own_provider() {
    let (registry, _) = registry(&["claude-code", "codex"]);
    for name in ["claude-code", "codex"] {
        assert_eq!(registry.resolve(&id(name)).ok().unwrap().cli_type(), &id(name));
    }
}

#[test]
fn an_agent_nobody_drives_is_unsupported() {
    let (registry, _) = registry(&["claude-code"]);
    let error = registry.resolve(&id("gemini")).err().unwrap();
    assert_eq!(error, ProviderError::Unsupported { cli_type: "gemini".into() });
    assert_eq!(error.code(), liminal_contract::ErrorCode::UnsupportedCliType);
}

#[tokio::test]
async fn shutting_down_ends_every_provider() {
    let (registry, ended) = registry(&["a", "b", "c"]);
    registry.shutdown().await;
    assert_eq!(ended.load(Ordering::Relaxed), 3);
}
