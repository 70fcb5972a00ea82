//! `comparisons.json`: which sessions answer the same message, and which of them the user kept.

use std::path::Path;

use liminal_contract::{Compare, ErrorCode, MemberState};
use serde::{Deserialize, Serialize};

use super::{Document, JsonFile, StoreError};
use crate::failure::Failure;

/// Older ones are forgotten; their sessions stay.
const MOST: usize = 200;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Comparisons {
    /// In the order in which they were started.
    comparisons: Vec<Compare>,
}

impl Document for Comparisons {
    const FILE: &'static str = "comparisons.json";
    const LIST: &'static str = "comparisons";
}

/// The comparisons, on disk.
#[derive(Debug)]
pub struct ComparisonsFile(JsonFile<Comparisons>);

impl ComparisonsFile {
    /// What was starting when the server ended has failed.
    pub fn open(data_dir: &Path) -> Self {
        let file = JsonFile::<Comparisons>::open(data_dir);
        let is_starting = |compare: &Compare| {
            compare.members.iter().any(|member| member.state == MemberState::Starting {})
        };
        if file.look(|file| file.comparisons.iter().any(is_starting)).unwrap_or(false) {
            file.change_later(|file| {
                let members = file.comparisons.iter_mut().flat_map(|compare| &mut compare.members);
                for member in members.filter(|member| member.state == MemberState::Starting {}) {
                    let message = "Liminal Builder stopped before this agent got the message.";
                    member.state = MemberState::Failed { message: message.to_owned() };
                }
            });
        }
        Self(file)
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        self.0.trouble()
    }

    /// The newest first.
    pub fn all(&self) -> Result<Vec<Compare>, StoreError> {
        self.0.look(|file| file.comparisons.iter().rev().cloned().collect())
    }

    pub fn get(&self, id: &str) -> Result<Compare, Failure> {
        let found = |file: &Comparisons| file.comparisons.iter().find(|it| it.id == id).cloned();
        self.0.look(found)?.ok_or_else(not_found)
    }

    /// Waits until it is on disk.
    pub async fn add(&self, compare: Compare) -> Result<(), Failure> {
        let add = move |file: &mut Comparisons| {
            file.comparisons.push(compare);
            let gone = file.comparisons.len().saturating_sub(MOST);
            file.comparisons.drain(..gone);
            Ok::<(), Failure>(())
        };
        self.0.change(add, |()| {}).await
    }

    /// Waits until it is on disk. `tell` is called in the order of the changes.
    pub async fn update(
        &self,
        id: &str,
        change: impl FnOnce(&mut Compare) + Send + 'static,
        tell: impl FnOnce(&Compare) + Send + 'static,
    ) -> Result<Compare, Failure> {
        let id = id.to_owned();
        let change = move |file: &mut Comparisons| {
            let compare = file.comparisons.iter_mut().find(|compare| compare.id == id);
            let compare = compare.ok_or_else(not_found)?;
            change(compare);
            Ok(compare.clone())
        };
        self.0.change(change, tell).await
    }
}

fn not_found() -> Failure {
    let message = "There is no such comparison. It may be too old; its sessions are still there.";
    Failure::new(ErrorCode::CompareNotFound, message)
}
