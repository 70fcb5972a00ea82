//! Which two states a scope compares, and which of the changes are the agent's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use liminal_contract::{ChangeScope, SessionId, TurnId};
use liminal_git::{Checkpoints, GitError, RepoPath, Repository, Tree};

use super::turns::{TurnStates, Unknown, last_seen};
use super::{Changes, Place};
use crate::failure::Failure;
use crate::journal::{CheckpointRow, Moment, Turns};

pub(super) const BEFORE_LATE: &str =
    "The agent may have changed files before the first state was recorded.";
pub(super) const AFTER_LATE: &str =
    "The agent had begun its next turn before the last state was recorded.";

/// The changes in a scope.
pub struct Found {
    /// Can read both versions.
    pub repository: Repository,
    pub changes: liminal_git::Changes,
    /// The state that they lead to, if it has a tree.
    pub state: Option<Tree>,
    /// What could not be recorded in that state.
    pub left_out: Vec<String>,
    /// What a branch is compared with.
    pub base: Option<String>,
    /// Where a turn that has ended began.
    pub began: Option<Tree>,
    /// For the user.
    pub notes: Vec<String>,
    /// What the agent's tool calls named; `None` if that is not asked.
    named: Option<Named>,
}

/// Where a session's changes begin.
pub(super) enum Start {
    /// At the base of its worktree.
    At(Tree),
    /// That base no longer exists.
    Gone,
    /// At the first state that was recorded.
    FirstState,
}

pub(super) struct Named {
    pub texts: Vec<String>,
    /// The session's directory, from the repository's topmost one.
    pub below: PathBuf,
}

impl Changes {
    pub(super) async fn find(
        &self,
        repository: Repository,
        place: &Place,
        session: &SessionId,
        scope: &ChangeScope,
    ) -> Result<Found, Failure> {
        let (directory, base) = (place.directory.as_path(), place.base.as_deref());
        let found = self.find_in(repository.clone(), directory, session, scope, base).await;
        match found {
            Err(ScopeError::Git(pruned @ GitError::Pruned)) => {
                Ok(Found::none(repository, &pruned.to_string()))
            }
            found => Ok(found?),
        }
    }

    async fn find_in(
        &self,
        repository: Repository,
        directory: &Path,
        session: &SessionId,
        scope: &ChangeScope,
        base: Option<&str>,
    ) -> Result<Found, ScopeError> {
        match scope {
            ChangeScope::Uncommitted {} => {
                let changes = repository.uncommitted().await?;
                let left_out = names_of(&changes.left_out);
                let mut found = Found::new(repository, changes);
                found.note_left_out(&left_out);
                Ok(found)
            }
            ChangeScope::Turn { turn_id } => {
                self.in_turn(repository, directory, session, turn_id.as_ref()).await
            }
            ChangeScope::SinceLooked {} => {
                let rows = self.rows(session).await?;
                let seen = last_seen(&rows);
                let Some((seen, old)) = seen.and_then(|row| Some((row, tree(row)?))) else {
                    return Ok(Found::none(repository, "Nothing was recorded yet."));
                };
                self.until_now(repository, session, old, &seen.left_out).await
            }
            ChangeScope::Branch {} => {
                let Some((base, old)) = repository.base(base).await? else {
                    let none = "This branch has no base to compare it with.";
                    return Ok(Found::none(repository, none));
                };
                let found = self.until_now(repository, session, old, &[]).await?;
                Ok(Found { base: Some(liminal_render::visible(&base)), ..found })
            }
        }
    }

    async fn in_turn(
        &self,
        repository: Repository,
        directory: &Path,
        session: &SessionId,
        turn: Option<&TurnId>,
    ) -> Result<Found, ScopeError> {
        let states = match self.turn_states(session, turn).await? {
            Ok(states) => states,
            Err(unknown) => return Ok(Found::none(repository, &unknown.to_string())),
        };
        let TurnStates { before, after, texts, .. } = states;
        let Some(old) = tree(&before) else {
            return Ok(Found::none(repository, &Unknown::NotRecorded.to_string()));
        };
        let below = directory.strip_prefix(repository.root()).unwrap_or(Path::new("")).to_owned();
        let mut found = match after {
            Some(after) => {
                let checkpoints = repository.checkpoints(&self.kept.of(session))?;
                let new = tree(&after).unwrap_or_else(|| old.clone());
                let mut found = Found::between(&checkpoints, &old, new).await?;
                found.note_left_out(before.left_out.iter().chain(&after.left_out));
                found.left_out = after.left_out;
                found.began = Some(old);
                if after.is_late {
                    found.notes.push(AFTER_LATE.into());
                }
                found
            }
            None => self.until_now(repository, session, old, &before.left_out).await?,
        };
        if before.is_late {
            found.notes.push(BEFORE_LATE.into());
        }
        found.named = Some(Named { texts, below });
        Ok(found)
    }

    /// Whether every file that a turn changed is as it was before it. If that can't be told, it is not.
    pub(super) async fn is_undone(&self, session: &SessionId, found: &Found) -> bool {
        match self.looks_undone(session, found).await {
            Ok(is_undone) => is_undone,
            Err(failure) => {
                tracing::warn!(%session, failure.message, "whether a turn is undone is not known");
                false
            }
        }
    }

    async fn looks_undone(&self, session: &SessionId, found: &Found) -> Result<bool, Failure> {
        let (Some(began), Some(ended)) = (&found.began, &found.state) else { return Ok(false) };
        if found.changes.files.is_empty() {
            return Ok(false);
        }
        let store = self.kept.of(session);
        let _one_at_a_time = self.reading.turn(&store).await;
        let now = found.repository.checkpoints(&store)?.take().await?;
        let (changed, since) = tokio::try_join!(
            found.repository.differences(began, ended),
            found.repository.differences(began, &now.tree)
        )?;
        let since: BTreeSet<_> = since.into_iter().map(|each| each.path).collect();
        // A file may be there although no state has it, such as one that is ignored by now.
        let is_there = |path: &RepoPath| {
            found.repository.root().join(path.as_path()).symlink_metadata().is_ok()
        };
        Ok(!changed.iter().any(|each| {
            since.contains(&each.path)
                || now.left_out.contains(&each.path)
                || each.old.is_none() && is_there(&each.path)
        }))
    }

    /// From where a session started to a later state.
    pub(super) async fn since_the_start(
        &self,
        directory: &Path,
        session: &SessionId,
        checkpoints: &Checkpoints,
        start: Start,
        now: Tree,
    ) -> Result<Found, Failure> {
        let repository = checkpoints.repository();
        match start {
            Start::At(old) => return Ok(Found::between(checkpoints, &old, now).await?),
            Start::Gone => {
                return Ok(Found::none(repository.clone(), "The base no longer exists."));
            }
            Start::FirstState => {}
        }
        let id = session.clone();
        let read = move |reader: &crate::journal::Reader<'_>| {
            Ok((reader.checkpoints(&id)?, reader.calls(&id, Turns::All)?))
        };
        let (rows, texts) = self.journal.read(read).await?;
        let first = rows.iter().find(|row| row.moment == Moment::Before).and_then(tree);
        let old = first.unwrap_or_else(|| now.clone());
        let mut found = Found::between(checkpoints, &old, now).await?;
        found.named = Some(Named::new(texts, directory, repository.root()));
        Ok(found)
    }

    /// From a state, in which some files could not be recorded, to the present one.
    async fn until_now(
        &self,
        repository: Repository,
        session: &SessionId,
        old: Tree,
        left_out: &[String],
    ) -> Result<Found, ScopeError> {
        let store = self.kept.of(session);
        let _one_at_a_time = self.reading.turn(&store).await;
        let checkpoints = repository.checkpoints(&store)?;
        let now = checkpoints.take().await?;
        let mut found = Found::between(&checkpoints, &old, now.tree).await?;
        let now = names_of(&now.left_out);
        found.note_left_out(left_out.iter().chain(&now));
        found.left_out = now;
        Ok(found)
    }

    pub(super) async fn rows(&self, session: &SessionId) -> Result<Vec<CheckpointRow>, Failure> {
        let id = session.clone();
        Ok(self.journal.read(move |reader| reader.checkpoints(&id)).await?)
    }
}

/// Why the changes in a scope are not known.
enum ScopeError {
    Git(GitError),
    Other(Failure),
}

impl From<GitError> for ScopeError {
    fn from(error: GitError) -> Self {
        Self::Git(error)
    }
}

impl From<Failure> for ScopeError {
    fn from(failure: Failure) -> Self {
        Self::Other(failure)
    }
}

impl From<crate::journal::JournalError> for ScopeError {
    fn from(error: crate::journal::JournalError) -> Self {
        Self::Other(error.into())
    }
}

impl From<ScopeError> for Failure {
    fn from(error: ScopeError) -> Self {
        match error {
            ScopeError::Git(error) => error.into(),
            ScopeError::Other(failure) => failure,
        }
    }
}

pub(super) fn names_of(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

fn tree(row: &CheckpointRow) -> Option<Tree> {
    Tree::new(&row.tree)
}

impl Found {
    fn new(repository: Repository, changes: liminal_git::Changes) -> Self {
        let (state, base, began, named) = (None, None, None, None);
        let (left_out, notes) = (Vec::new(), Vec::new());
        Self { repository, changes, state, left_out, base, began, notes, named }
    }

    fn none(repository: Repository, why: &str) -> Self {
        let changes = liminal_git::Changes { files: Vec::new(), more: 0, left_out: Vec::new() };
        Self { notes: vec![why.to_owned()], ..Self::new(repository, changes) }
    }

    async fn between(checkpoints: &Checkpoints, old: &Tree, new: Tree) -> Result<Self, GitError> {
        let repository = checkpoints.repository().clone();
        let changes = repository.between(old, &new).await?;
        Ok(Self { state: Some(new), ..Self::new(repository, changes) })
    }

    /// Of these files a state has an older version or none, which says nothing about them.
    fn note_left_out<'a>(&mut self, paths: impl IntoIterator<Item = &'a String>) {
        let paths: BTreeSet<_> = paths.into_iter().collect();
        self.changes.files.retain(|file| !paths.contains(&file.path.to_string()));
        let Some(first) = paths.first() else { return };
        let shown = match paths.len() {
            1 => first.to_string(),
            many => format!("{first} and {} more", many - 1),
        };
        self.notes.push(format!(
            "Not compared (over 10 MB, unreadable, constantly written, or a pipe or device): {shown}."
        ));
    }

    /// Whether one of these texts of tool calls names the file.
    pub fn are_named_in(&self, texts: &[String], path: &str) -> bool {
        let below = self.named.as_ref().map(|named| named.below.as_path());
        is_named_in(texts, below.unwrap_or(Path::new("")), path)
    }

    /// Whether a tool call named the file, as far as that matters.
    pub fn is_named(&self, path: &str) -> bool {
        self.named.as_ref().is_none_or(|named| named.has(path))
    }
}

impl Named {
    pub fn new(texts: Vec<String>, directory: &Path, root: &Path) -> Self {
        Self { texts, below: directory.strip_prefix(root).unwrap_or(Path::new("")).to_owned() }
    }

    pub fn has(&self, path: &str) -> bool {
        is_named_in(&self.texts, &self.below, path)
    }
}

/// Whether a text names the file, from the topmost directory or from the one below where the session works.
fn is_named_in(texts: &[String], below: &Path, path: &str) -> bool {
    let relative = Path::new(path).strip_prefix(below).ok().and_then(Path::to_str);
    let names = [Some(path), relative];
    names.into_iter().flatten().any(|name| texts.iter().any(|text| names_it(text, name)))
}

/// Whether the path stands in the text by itself or at the end of a longer one.
fn names_it(text: &str, path: &str) -> bool {
    let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(path).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + path.len()..].chars();
        let next = after.next();
        // A dot may end a sentence.
        let is_longer = |letter| goes_on(letter) || letter == '/';
        let extends = next == Some('.') && after.next().is_some_and(is_longer);
        !before.is_some_and(|letter| goes_on(letter) || letter == '.')
            && !next.is_some_and(is_longer)
            && !extends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_by_itself_or_at_the_end_of_a_longer_one() {
        for text in [
            "src/a.rs",
            "/home/me/p/src/a.rs",
            r#"{"path":"src/a.rs"}"#,
            "touch src/a.rs.",
            "'src/a.rs':",
        ] {
            assert!(names_it(text, "src/a.rs"), "{text}");
        }
        for text in ["src/a.rsx", "src/a.rs.bak", "xsrc/a.rs", "src/a.rs/b", ".src/a.rs", ""] {
            assert!(!names_it(text, "src/a.rs"), "{text}");
        }
        assert!(!names_it("cat banana", "a"));
        assert!(names_it("cat a", "a"));
    }
}
