//! `comparisons.json`: which sessions answer the same message, and which of them the user kept.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

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
pub struct ComparisonsFile {
    file: JsonFile<Comparisons>,
    /// Those started by this server. In any other, what was starting when the server ended has failed.
    started_here: Mutex<HashSet<String>>,
}

impl ComparisonsFile {
    pub fn open(data_dir: &Path) -> Self {
        Self { file: JsonFile::open(data_dir), started_here: Mutex::default() }
    }

    /// As it is now.
    fn current(&self, mut compare: Compare) -> Compare {
        let here = self.started_here.lock().unwrap_or_else(PoisonError::into_inner);
        if !here.contains(&compare.id) {
            fail_unstarted(&mut compare);
        }
        compare
    }

    /// Why the file can't be used; `None` when it can.
    pub fn trouble(&self) -> Option<StoreError> {
        self.file.trouble()
    }

    /// The newest first.
    pub fn all(&self) -> Result<Vec<Compare>, StoreError> {
        let newest =
            |file: &Comparisons| file.comparisons.iter().rev().cloned().collect::<Vec<_>>();
        Ok(self.file.look(newest)?.into_iter().map(|compare| self.current(compare)).collect())
    }

    pub fn get(&self, id: &str) -> Result<Compare, Failure> {
        let found = |file: &Comparisons| file.comparisons.iter().find(|it| it.id == id).cloned();
        self.file.look(found)?.map(|compare| self.current(compare)).ok_or_else(not_found)
    }

    /// Waits until it is on disk.
    pub async fn add(&self, compare: Compare) -> Result<(), Failure> {
        let id = compare.id.clone();
        self.started_here.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        let add = move |file: &mut Comparisons| {
            file.comparisons.push(compare);
            let gone = file.comparisons.len().saturating_sub(MOST);
            file.comparisons.drain(..gone);
            Ok::<(), Failure>(())
        };
        self.file.change(add, |()| {}).await
    }

    /// Waits until it is on disk. `tell` is called in the order of the changes.
    pub async fn update(
        &self,
        id: &str,
        change: impl FnOnce(&mut Compare) + Send + 'static,
        tell: impl FnOnce(&Compare) + Send + 'static,
    ) -> Result<Compare, Failure> {
        let id = id.to_owned();
        let is_here =
            self.started_here.lock().unwrap_or_else(PoisonError::into_inner).contains(&id);
        let change = move |file: &mut Comparisons| {
            let compare = file.comparisons.iter_mut().find(|compare| compare.id == id);
            let compare = compare.ok_or_else(not_found)?;
            if !is_here {
                fail_unstarted(compare);
            }
            change(compare);
            Ok(compare.clone())
        };
        self.file.change(change, tell).await
    }
}

fn fail_unstarted(compare: &mut Compare) {
    for member in &mut compare.members {
        if member.state == (MemberState::Starting {}) {
            let message = "Liminal Builder stopped before this agent got the message.";
            member.state = MemberState::Failed { message: message.to_owned() };
        }
    }
}

fn not_found() -> Failure {
    let message = "There is no such comparison. It may be too old; its sessions are still there.";
    Failure::new(ErrorCode::CompareNotFound, message)
}
