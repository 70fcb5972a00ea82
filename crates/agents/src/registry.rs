//! Which provider drives which agent.

use std::collections::HashMap;
use std::sync::Arc;

use liminal_contract::CliType;

use crate::{CliProvider, ProviderError};

/// Filled at start-up, read-only afterwards.
#[derive(Default)]
pub struct ProviderRegistry {
    providers: HashMap<CliType, Arc<dyn CliProvider>>,
}

impl ProviderRegistry {
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces an earlier provider of the same agent.
    pub fn register(&mut self, provider: Arc<dyn CliProvider>) {
        self.providers.insert(provider.cli_type().clone(), provider);
    }

    pub fn resolve(&self, cli_type: &CliType) -> Result<Arc<dyn CliProvider>, ProviderError> {
        self.providers
            .get(cli_type)
            .cloned()
            .ok_or_else(|| ProviderError::Unsupported { cli_type: cli_type.as_str().to_owned() })
    }

    /// In no particular order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn CliProvider>> {
        self.providers.values()
    }

    /// Ends the processes of all providers concurrently; returns when none is left.
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
