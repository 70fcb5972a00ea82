//! `choices.json`: the options that the user last chose, by project and agent, and the choices that skip questions
//! which the user confirmed there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use liminal_contract::{CliType, OptionValue};
use serde::{Deserialize, Serialize};

use super::{Document, JsonFile, StoreError};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Choices {
    choices: Vec<Chosen>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    directory: String,
    cli_type: CliType,
    /// By the agent's own ids.
    #[serde(default)]
    options: BTreeMap<String, OptionValue>,
    /// See [`Choice`].
    #[serde(default)]
    confirmed: BTreeSet<String>,
}

impl Document for Choices {
    const FILE: &'static str = "choices.json";
    const LIST: &'static str = "choices";
}

/// A choice that can be confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Option {
        id: String,
        value: OptionValue,
    },
    /// Our own policy **Approve everything**.
    ApproveEverything,
}

impl Choice {
    fn key(&self) -> String {
        match self {
            Self::Option { id, value } => format!("{id}={value}"),
            Self::ApproveEverything => "approve everything".to_owned(),
        }
    }
}

/// The choices, on disk. A file that can't be read has none: the user is asked again.
#[derive(Debug)]
pub struct ChoicesFile(JsonFile<Choices>);

impl ChoicesFile {
    pub fn open(data_dir: &Path) -> Self {
        Self(JsonFile::open(data_dir))
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        self.0.trouble()
    }

    /// The options that a new session starts with.
    pub fn last(&self, project: &Path, agent: &CliType) -> Vec<(String, OptionValue)> {
        self.find(project, agent, |chosen| chosen.options.clone().into_iter().collect())
    }

    pub fn is_confirmed(&self, project: &Path, agent: &CliType, choice: &Choice) -> bool {
        self.find(project, agent, |chosen| chosen.confirmed.contains(&choice.key()))
    }

    /// Waits until it is on disk. If it can't be written, the user is asked again in the next session.
    pub async fn confirm(&self, project: &Path, agent: &CliType, choice: &Choice) {
        let key = choice.key();
        let confirm = |chosen: &mut Chosen| {
            chosen.confirmed.insert(key);
        };
        if let Err(error) = self.change(project, agent, confirm).await {
            tracing::warn!(%error, "a confirmation was not written");
        }
    }

    /// The value that new sessions start with from now on. Waits until it is on disk.
    pub async fn choose(
        &self,
        project: &Path,
        agent: &CliType,
        id: String,
        value: OptionValue,
    ) -> Result<(), StoreError> {
        let choose = |chosen: &mut Chosen| {
            chosen.options.insert(id, value);
        };
        self.change(project, agent, choose).await
    }

    fn find<T: Default>(
        &self,
        project: &Path,
        agent: &CliType,
        look: impl FnOnce(&Chosen) -> T,
    ) -> T {
        let directory = project.to_string_lossy();
        let is_meant = |known: &&Chosen| known.directory == directory && known.cli_type == *agent;
        let found = self.0.look(|file| file.choices.iter().find(is_meant).map(look));
        found.ok().flatten().unwrap_or_default()
    }

    async fn change(
        &self,
        project: &Path,
        agent: &CliType,
        change: impl FnOnce(&mut Chosen) + Send + 'static,
    ) -> Result<(), StoreError> {
        let (directory, cli_type) = (project.to_string_lossy().into_owned(), agent.clone());
        let change = move |file: &mut Choices| {
            let is_meant =
                |known: &Chosen| known.directory == directory && known.cli_type == cli_type;
            let at = file.choices.iter().position(is_meant).unwrap_or_else(|| {
                let (options, confirmed) = (BTreeMap::new(), BTreeSet::new());
                file.choices.push(Chosen { directory, cli_type, options, confirmed });
                file.choices.len() - 1
            });
            change(&mut file.choices[at]);
            Ok::<(), StoreError>(())
        };
        self.0.change(change, |()| {}).await
    }
}
