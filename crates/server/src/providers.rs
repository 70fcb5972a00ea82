//! Makes a provider for every agent of the catalogue.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use liminal_agents::acp::{AcpAgent, AcpHost, AcpProvider, Patience};
use liminal_agents::catalogue::{Catalogue, Speaks};
use liminal_agents::claude::{ClaudeOptions, ClaudeProvider};
use liminal_agents::lifecycle::Timing;
use liminal_agents::process::GuardCommand;
use liminal_agents::{ProviderRegistry, StatusChange};
use tokio::sync::mpsc;

use crate::config::Config;
use crate::store::TrustFile;

/// How long Claude Code may take to end a turn after it was told to stop.
const INTERRUPT: Duration = Duration::from_secs(10);

/// Our own path, because the demo agent is the same program; just the name where the system doesn't know.
pub fn own_executable() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_unknown| "liminal".into())
}

/// No provider starts a process before it is needed.
pub fn register(
    catalogue: &Catalogue,
    config: &Config,
    data_dir: &Path,
    guard: &GuardCommand,
    statuses: &mpsc::UnboundedSender<StatusChange>,
    trust: &Arc<TrustFile>,
) -> ProviderRegistry {
    let mut registry = ProviderRegistry::new();
    let timing = Timing {
        idle: config.idle,
        back_off: [1, 2, 4, 8, 16].map(|times| config.retry * times).to_vec(),
        ..Timing::default()
    };
    // Where an agent starts whose project is gone.
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    for entry in catalogue.entries() {
        let start = entry.start_timeout.or(config.start_timeout);
        match &entry.speaks {
            Speaks::Acp(_) => {
                let host = AcpHost {
                    guard: guard.clone(),
                    data_dir: data_dir.to_owned(),
                    statuses: statuses.clone(),
                    timing: timing.clone().starting_within(start),
                    patience: Patience::default(),
                };
                if let Some(agent) = AcpAgent::of_entry(entry, &home) {
                    registry.register(Arc::new(AcpProvider::new(agent, host)));
                }
            }
            Speaks::Claude => {
                registry.register(Arc::new(ClaudeProvider::new(ClaudeOptions {
                    entry: entry.clone(),
                    guard: guard.clone(),
                    statuses: statuses.clone(),
                    trust: trust.clone(),
                    start,
                    idle: config.idle,
                    interrupt: INTERRUPT,
                })));
            }
        }
    }
    registry
}
