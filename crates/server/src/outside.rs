//! Sessions that were made outside: listed for a project, or by directory where no project is.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use liminal_agents::catalogue::{Catalogue, Speaks};
use liminal_agents::claude;
use liminal_contract::{
    CliType, OutsideDirectory, OutsideSession, ProjectId, ServerMessage, SessionId,
};
use liminal_outside::{Found, Index, Place};
use liminal_render::visible;

use crate::failure::Failure;

/// What was read before. It can be deleted.
const FILE: &str = "outside.json";
/// The agent whose own program keeps sessions as Codex does.
const CODEX: &str = "codex";

/// Finds them. Reads nothing before somebody asks.
pub struct Outside {
    places: Vec<(CliType, Place)>,
    file: PathBuf,
    /// `None` until it is first needed.
    index: Arc<Mutex<Option<Index>>>,
}

impl Outside {
    pub fn new(catalogue: &Catalogue, data_dir: &Path) -> Self {
        let places = catalogue.entries().iter().filter_map(|entry| {
            let place = match entry.speaks {
                Speaks::Claude => Place::Claude(claude::config_dir(entry)),
                Speaks::Acp(_) if entry.cli_type.as_str() == CODEX => {
                    Place::Codex(entry.directory("CODEX_HOME", ".codex"))
                }
                Speaks::Acp(_) => return None,
            };
            Some((entry.cli_type.clone(), place))
        });
        Self { places: places.collect(), file: data_dir.join(FILE), index: Arc::default() }
    }

    /// Everything that is not ours, by the id it would have here; the newest first.
    pub async fn found(
        &self,
        ours: HashSet<SessionId>,
    ) -> Result<Vec<(SessionId, Found)>, Failure> {
        let (places, file, index) = (self.places.clone(), self.file.clone(), self.index.clone());
        let looked = move || {
            let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
            let index =
                index.get_or_insert_with(|| Index::read(&std::fs::read(&file).unwrap_or_default()));
            let mut found = look(index, &places, &file);
            found.retain(|(id, _)| !ours.contains(id));
            found.sort_by_key(|(_, found)| std::cmp::Reverse(found.changed));
            // A copy of a file in another folder has the same id; the agent reads the newest.
            let mut seen = HashSet::new();
            found.retain(|(id, _)| seen.insert(id.clone()));
            found
        };
        tokio::task::spawn_blocking(looked).await.map_err(|_panicked| Failure::unexpected())
    }
}

fn look(index: &mut Index, places: &[(CliType, Place)], file: &Path) -> Vec<(SessionId, Found)> {
    let mut is_changed = false;
    for (_, place) in places {
        is_changed |= index.look(place);
    }
    if is_changed
        && let Ok(bytes) = index.write()
        && let Err(error) = std::fs::write(file, bytes)
    {
        tracing::debug!(%error, "the index of sessions made outside was not kept");
    }
    let found = places.iter().flat_map(|(cli_type, place)| {
        let named =
            |found: &Found| Some((SessionId::new(cli_type, &found.agent_ref).ok()?, found.clone()));
        index.found(place).filter_map(named).collect::<Vec<_>>()
    });
    found.collect()
}

/// Those that worked in a project's directory.
pub fn of_project(
    found: Vec<(SessionId, Found)>,
    id: &ProjectId,
    directory: &Path,
) -> ServerMessage {
    let sessions = found.into_iter().filter(|(_, found)| found.cwd == directory).map(session);
    ServerMessage::OutsideList {
        project_id: Some(id.clone()),
        sessions: sessions.collect(),
        directories: Vec::new(),
    }
}

/// How many worked in each directory that still exists, the most used first.
pub fn directories(found: &[(SessionId, Found)]) -> ServerMessage {
    let mut counts: BTreeMap<&Path, OutsideDirectory> = BTreeMap::new();
    for (_, found) in found {
        let directory = counts.entry(&found.cwd).or_insert_with(|| OutsideDirectory {
            path: found.cwd.to_string_lossy().into_owned(),
            count: 0,
            changed: found.changed,
        });
        directory.count += 1;
        directory.changed = directory.changed.max(found.changed);
    }
    counts.retain(|path, _| path.is_dir());
    let mut directories: Vec<_> = counts.into_values().collect();
    directories.sort_by_key(|directory| std::cmp::Reverse((directory.count, directory.changed)));
    ServerMessage::OutsideList { project_id: None, sessions: Vec::new(), directories }
}

fn session((id, found): (SessionId, Found)) -> OutsideSession {
    OutsideSession {
        cli_type: id.cli_type(),
        agent_ref: found.agent_ref,
        title: visible(&found.title),
        branch: found.branch.as_deref().map(visible),
        version: found.version.as_deref().map(visible),
        began: found.began,
        changed: found.changed,
        bytes: found.bytes,
    }
}
