//! Which provider drives which agent.

use std::collections::HashMap;
use std::sync::Arc;

use liminal_contract::CliType;

use crate::{CliProvider, ProviderError};

/// The providers by agent. Filled at start-up, then only asked.
#[derive(Default)]
pub struct ProviderRegistry {
    providers: HashMap<CliType, Arc<dyn CliProvider>>,
}

impl ProviderRegistry {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a provider under its own agent's id, in place of one that was there.
    pub fn register(&mut self, provider: Arc<dyn CliProvider>) {
        self.providers.insert(provider.cli_type().clone(), provider);
    }

    /// The provider of this agent.
    pub fn resolve(&self, cli_type: &CliType) -> Result<Arc<dyn CliProvider>, ProviderError> {
        self.providers
            .get(cli_type)
            .cloned()
            .ok_or_else(|| ProviderError::Unsupported { cli_type: cli_type.as_str().to_owned() })
    }

    /// All of them, in no order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn CliProvider>> {
        self.providers.values()
    }

    /// Ends the processes of all of them at the same time; returns when nothing is left.
    pub async fn shutdown(&self) {
        let mut ending = tokio::task::JoinSet::new();
        for provider in self.providers.values() {
            let provider = Arc::clone(provider);
            ending.spawn(async move { provider.shutdown().await });
        }
        ending.join_all().await;
    }
}

impl std::fmt::Debug for ProviderRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.providers.keys()).finish()
    }
}

#[cfg(test)]
mod tests;
