//! From the catalogue to who drives each agent.

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

/// How long Claude Code may take to end a turn that is to be stopped.
const INTERRUPT: Duration = Duration::from_secs(10);

/// Ourselves: the demo agent is the same program. Where the system does not tell, by name.
pub fn own_executable() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_unknown| "liminal".into())
}

/// A provider for every agent of the catalogue. None starts anything before it is needed.
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
        start: config.start_timeout,
        idle: config.idle,
        back_off: [1, 2, 4, 8, 16].map(|times| config.retry * times).to_vec(),
        ..Timing::default()
    };
    // An agent process of many sessions runs nowhere in particular; each session has its project.
    let nowhere = std::env::home_dir().unwrap_or_else(|| "/".into());
    for entry in catalogue.entries() {
        match &entry.speaks {
            Speaks::Acp(_) => {
                let host = AcpHost {
                    guard: guard.clone(),
                    data_dir: data_dir.to_owned(),
                    statuses: statuses.clone(),
                    timing: timing.clone(),
                    patience: Patience::default(),
                };
                if let Some(agent) = AcpAgent::of_entry(entry, &nowhere) {
                    registry.register(Arc::new(AcpProvider::new(agent, host)));
                }
            }
            Speaks::Claude => {
                registry.register(Arc::new(ClaudeProvider::new(ClaudeOptions {
                    entry: entry.clone(),
                    guard: guard.clone(),
                    statuses: statuses.clone(),
                    trust: trust.clone(),
                    start: config.start_timeout,
                    idle: config.idle,
                    interrupt: INTERRUPT,
                })));
            }
        }
    }
    registry
}
