//! Discarded worktrees: each is kept whole in a directory of its own, beside the others, until its time is up.
//!
//! `about.json` in that directory says what it was, so that it outlives the session and the data directory.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use liminal_contract::{DiscardedWorkspace, ErrorCode, Timestamp};
use liminal_git::PutAway;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::replacement::Replacement;

/// Among the worktrees. No project's directory starts with a dot.
const DIRECTORY: &str = ".discarded";
const ABOUT: &str = "about.json";
/// Where git finds the objects of discarded worktrees.
const HELD: &str = "refs/liminal/discarded";
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A discarded worktree, with what it takes to bring it back. In a file, so its names are permanent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    #[serde(flatten)]
    pub shown: DiscardedWorkspace,
    pub common: PathBuf,
    pub private: PathBuf,
    /// The last commit of the branch.
    pub tip: String,
}

/// All of them.
#[derive(Debug, Clone)]
pub struct Discarded {
    directory: PathBuf,
}

impl Discarded {
    pub fn beside(data_dir: &Path) -> Self {
        Self { directory: super::directory(data_dir).join(DIRECTORY) }
    }

    pub fn store(&self, saved: &str) -> PathBuf {
        self.directory.join(saved)
    }

    /// Until when something is kept that is discarded now.
    pub fn until(now: SystemTime) -> Timestamp {
        Timestamp::from(now + KEPT_FOR)
    }

    /// See [`read`](Self::read).
    pub async fn all(&self) -> Vec<About> {
        let this = self.clone();
        tokio::task::spawn_blocking(move || this.read()).await.unwrap_or_default()
    }

    /// The last first. What can't be read is left alone, and not listed.
    pub fn read(&self) -> Vec<About> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut all: Vec<About> = entries.filter_map(|entry| about(&entry.path())).collect();
        all.sort_by_key(|about| std::cmp::Reverse(about.shown.at));
        all
    }

    pub async fn find(&self, saved: &str) -> Result<About, Failure> {
        let found = self.all().await.into_iter().find(|about| about.shown.saved == saved);
        found.ok_or_else(|| {
            let words = "This worktree is no longer kept: it was brought back, or its time is up.";
            Failure::new(ErrorCode::ActRefused, words)
        })
    }

    /// Completes what a killed program began to delete.
    pub async fn forget_the_rest(&self) {
        PutAway::forget_the_rest(&self.directory).await;
    }

    /// Deletes one for good.
    pub async fn forget(&self, about: &About) -> Result<(), Failure> {
        let away = about.put_away(&self.store(&about.shown.saved));
        away.forget().await?;
        // The repository may be gone by now.
        let _not_needed = away.remove_ref(&about.held(), None).await;
        Ok(())
    }
}

impl About {
    pub fn put_away(&self, store: &Path) -> PutAway {
        PutAway {
            common: self.common.clone(),
            path: PathBuf::from(&self.shown.path),
            private: self.private.clone(),
            store: store.to_owned(),
        }
    }

    /// Where its files are, and until when, for people.
    pub fn words(&self, discarded: &Discarded) -> String {
        let DiscardedWorkspace { saved, branch, until, .. } = &self.shown;
        let at = self.put_away(&discarded.store(saved)).files();
        let until: String = until.to_string().chars().take("2026-12-17".len()).collect();
        format!("{} ({}, kept until {until})", at.display(), liminal_render::visible(branch))
    }

    /// The name that keeps its objects. From no file, because it is removed in the end.
    pub fn held(&self) -> String {
        format!("{HELD}/{}", self.shown.saved)
    }

    pub fn is_over(&self, now: SystemTime) -> bool {
        self.shown.until <= Timestamp::from(now)
    }

    /// Before anything is moved.
    pub fn write(&self, store: &Path) -> io::Result<()> {
        super::make_private(store)?;
        let new = |out: &mut _| Ok(serde_json::to_writer_pretty(out, self)?);
        Replacement::write(&store.join(ABOUT), new)?.take_place()
    }
}

/// One that is away. A directory whose worktree never came or has left again is none.
fn about(store: &Path) -> Option<About> {
    let text = std::fs::read(store.join(ABOUT)).ok()?;
    let about: About = serde_json::from_slice(&text).ok()?;
    let is_it = store.file_name().is_some_and(|name| *name == *about.shown.saved);
    (is_it && about.put_away(store).is_away()).then_some(about)
}
