//! Sessions that were made outside: found, and told by project and directory.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use liminal_agents::catalogue::{Catalogue, Speaks};
use liminal_agents::claude;
use liminal_contract::{
    CliType, OutsideCount, OutsideDirectory, OutsideSession, Project, ProjectId, SessionId,
    Timestamp,
};
use liminal_outside::{Found, Index, Owners, Place, keeps_for, root_of};
use liminal_render::visible;

use crate::failure::Failure;

/// What was read before. It can be deleted.
const FILE: &str = "outside.json";
/// The agent whose own program keeps sessions as Codex does.
const CODEX: &str = "codex";
/// A session that its agent deletes within this time is due.
const SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Finds them. Reads nothing before somebody asks.
pub struct Outside {
    places: Vec<(CliType, Place)>,
    file: PathBuf,
    /// `None` until it is first needed.
    index: Arc<Mutex<Option<Index>>>,
}

/// A session made outside, with the id it would have here.
#[derive(Debug, Clone)]
pub struct Seen {
    pub id: SessionId,
    pub found: Found,
    /// The project that it belongs to.
    pub project: Option<ProjectId>,
    /// When its agent deletes it, if that is soon.
    pub deleted_at: Option<Timestamp>,
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

    /// The agents whose files are read.
    pub fn agents(&self) -> impl Iterator<Item = &CliType> {
        self.places.iter().map(|(cli_type, _)| cli_type)
    }

    /// Everything that is not ours; the newest first.
    pub async fn found(
        &self,
        ours: HashSet<SessionId>,
        projects: Vec<Project>,
    ) -> Result<Vec<Seen>, Failure> {
        let (places, file, index) = (self.places.clone(), self.file.clone(), self.index.clone());
        let looked = move || {
            let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
            let index =
                index.get_or_insert_with(|| Index::read(&std::fs::read(&file).unwrap_or_default()));
            keep(index, &places, &file);
            seen(index, &places, &ours, projects)
        };
        tokio::task::spawn_blocking(looked).await.map_err(|_panicked| Failure::unexpected())
    }

    /// The same, without keeping what was read, for a command beside a running server. Blocks.
    pub fn found_now(&self, ours: &HashSet<SessionId>, projects: Vec<Project>) -> Vec<Seen> {
        let mut index = Index::read(&std::fs::read(&self.file).unwrap_or_default());
        for (_, place) in &self.places {
            index.look(place);
        }
        seen(&index, &self.places, ours, projects)
    }
}

/// Looks again, and keeps what was read if it changed.
fn keep(index: &mut Index, places: &[(CliType, Place)], file: &Path) {
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
}

fn seen(
    index: &Index,
    places: &[(CliType, Place)],
    ours: &HashSet<SessionId>,
    projects: Vec<Project>,
) -> Vec<Seen> {
    let owners = Owners::new(projects.into_iter().map(|project| (project.path.into(), project.id)));
    let soon = Timestamp::from(SystemTime::now() + SOON);
    let mut all: Vec<Seen> = Vec::new();
    for (cli_type, place) in places {
        let keeps = match place {
            Place::Claude(root) => Some(keeps_for(root)),
            Place::Codex(_) => None,
        };
        all.extend(index.found(place).filter_map(|found| {
            let id = SessionId::new(cli_type, &found.agent_ref).ok()?;
            if ours.contains(&id) {
                return None;
            }
            let deleted_at = keeps.map(|keeps| found.changed.after(keeps)).filter(|at| *at < soon);
            let project = owners.of(&found.cwd).cloned();
            Some(Seen { id, found: found.clone(), project, deleted_at })
        }));
    }
    all.sort_by_key(|seen| std::cmp::Reverse(seen.found.changed));
    // A copy of a file in another folder has the same id; the agent reads the newest.
    let mut ids = HashSet::new();
    all.retain(|seen| ids.insert(seen.id.clone()));
    all
}

/// How many belong to each project.
pub fn counts(seen: &[Seen]) -> Vec<OutsideCount> {
    let mut counts: BTreeMap<&str, OutsideCount> = BTreeMap::new();
    for each in seen {
        let Some(project_id) = &each.project else { continue };
        let count = counts.entry(project_id.as_str()).or_insert_with(|| OutsideCount {
            project_id: project_id.clone(),
            count: 0,
            due: 0,
        });
        count.count += 1;
        count.due += usize::from(each.deleted_at.is_some());
    }
    counts.into_values().collect()
}

/// How many worked in each directory that still exists and is no project, the most used first. Blocks.
pub fn directories(seen: &[Seen], projects: &[Project]) -> Vec<OutsideDirectory> {
    let mut roots: BTreeMap<&Path, PathBuf> = BTreeMap::new();
    let mut counts: BTreeMap<PathBuf, OutsideDirectory> = BTreeMap::new();
    for Seen { found, .. } in seen {
        let root = roots.entry(&found.cwd).or_insert_with(|| root_of(&found.cwd));
        let directory = counts.entry(root.clone()).or_insert_with(|| OutsideDirectory {
            path: root.to_string_lossy().into_owned(),
            count: 0,
            changed: found.changed,
        });
        directory.count += 1;
        directory.changed = directory.changed.max(found.changed);
    }
    counts.retain(|path, directory| {
        path.is_dir() && !projects.iter().any(|project| project.path == directory.path)
    });
    let mut directories: Vec<_> = counts.into_values().collect();
    directories.sort_by_key(|directory| std::cmp::Reverse((directory.count, directory.changed)));
    directories
}

/// Those whose title or first message contains every word, ignoring case.
pub fn matching(seen: Vec<Seen>, query: &str, most: usize) -> Vec<OutsideSession> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let fits = |seen: &Seen| {
        let said = seen.found.said.as_deref().unwrap_or_default();
        let text = format!("{}\n{said}", seen.found.title).to_lowercase();
        !words.is_empty() && words.iter().all(|word| text.contains(word.as_str()))
    };
    let fitting = seen.into_iter().filter(|seen| seen.project.is_some() && fits(seen));
    fitting.take(most).map(OutsideSession::from).collect()
}

impl From<Seen> for OutsideSession {
    fn from(Seen { id, found, project, deleted_at }: Seen) -> Self {
        Self {
            cli_type: id.cli_type(),
            agent_ref: found.agent_ref,
            title: visible(&found.title),
            said: found.said.as_deref().map(visible),
            directory: found.cwd.to_string_lossy().into_owned(),
            project_id: project,
            branch: found.branch.as_deref().map(visible),
            version: found.version.as_deref().map(visible),
            began: found.began,
            changed: found.changed,
            deleted_at,
            bytes: found.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(title: &str, said: Option<&str>, project: Option<&str>) -> Seen {
        let at = Timestamp::from_millis(0);
        Seen {
            id: SessionId::parse("claude-code:x").unwrap(),
            found: Found {
                agent_ref: "x".to_owned(),
                cwd: "/work".into(),
                title: title.to_owned(),
                said: said.map(str::to_owned),
                branch: None,
                version: None,
                began: at,
                changed: at,
                bytes: 0,
            },
            project: project.map(ProjectId::new),
            deleted_at: None,
        }
    }

    #[test]
    fn words_are_found_in_the_title_and_in_the_first_message_of_sessions_of_projects() {
        let all = vec![
            seen("The Shed", Some("Paint it green"), Some("p")),
            seen("Green house", None, None),
            seen("Cart", None, Some("p")),
        ];
        let found = |query: &str| -> Vec<String> {
            matching(all.clone(), query, 9).into_iter().map(|session| session.title).collect()
        };
        assert_eq!(found("shed green"), ["The Shed"]);
        assert_eq!(found("GREEN"), ["The Shed"]);
        assert!(found(" ").is_empty() && found("shed cart").is_empty());
    }
}
