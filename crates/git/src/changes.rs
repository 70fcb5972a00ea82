//! Which files differ from the last commit.

use std::collections::{BTreeMap, BTreeSet};

use crate::file::{Links, count_lines, is_missing, stamp};
use crate::tree::SUBMODULE;
use crate::{Entry, GitError, RepoPath, Repository, Tree};

/// What differs between the last commit and the files, new files included and ignored ones not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// By path.
    pub files: Vec<Change>,
    /// Changes that were not listed because there were too many.
    pub more: usize,
    /// Files that can't be seen, so nobody knows whether they changed.
    pub left_out: Vec<RepoPath>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: RepoPath,
    pub kind: Kind,
    /// `None` for what has no lines: binary files, submodules, and new files that are too large to count.
    pub counts: Option<Counts>,
    /// The old file's object and mode.
    pub(crate) old: Option<(String, u32)>,
    /// The new file's mode.
    pub(crate) mode: Option<u32>,
    pub(crate) new: NewFile,
}

/// Where the new file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NewFile {
    /// In a tree, as this object.
    Object(String),
    /// On the disk. The stamp differs whenever the file was written.
    OnDisk { stamp: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Added,
    /// Added and not known to git yet.
    Untracked,
    Modified,
    Deleted,
    Renamed {
        from: RepoPath,
    },
    /// A submodule's commit changed.
    Submodule,
    /// Both sides of a merge changed it.
    Unmerged,
}

/// A change of a file's mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    Executable,
    /// It was executable.
    Plain,
    Link,
    /// It was a link.
    File,
}

/// The mode of a symbolic link.
const LINK: u32 = 0o120_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub added: usize,
    pub removed: usize,
}

/// A list with more than this is no use to a person.
const MOST_FILES: usize = 5000;
/// In bytes: how much of the new files' content is read to count lines.
const MOST_COUNTED: u64 = 64 << 20;

const DIFF: [&str; 9] = [
    "diff",
    "--raw",
    "--numstat",
    "-z",
    "--no-abbrev",
    "--find-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
];

impl Repository {
    /// What differs between the last commit and the files in this directory.
    pub async fn uncommitted(&self) -> Result<Changes, GitError> {
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let (tracked, untracked, unmerged) = tokio::try_join!(
            self.tracked(),
            self.git.run(others),
            self.git.run(["ls-files", "--unmerged", "-z"])
        )?;
        let mut files = parse(&tracked)?;
        let unmerged = unmerged_paths(&unmerged);
        for file in files.iter_mut().filter(|file| unmerged.contains(&file.path)) {
            file.kind = Kind::Unmerged;
        }
        let new = untracked.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        let new = new.map(|path| Change {
            path: RepoPath::new(path),
            kind: Kind::Untracked,
            counts: None,
            old: None,
            mode: None,
            new: NewFile::OnDisk { stamp: String::new() },
        });
        files.extend(new);
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let Changes { files, more, .. } = Changes::first_of(files);
        let (files, left_out) = self.look_at(files).await?;
        let left_out = left_out.into_iter().map(|file| file.path).collect();
        Ok(Changes { files: self.with_moves(files).await?, more, left_out })
    }

    /// Without counts if there is a file that git can't read: it then counts nothing. If git can't even compare one,
    /// which may be rewritten all the time, it goes by the files' times.
    async fn tracked(&self) -> Result<Vec<u8>, GitError> {
        let head = self.head_tree().await?;
        let counted = self.git.run(DIFF.into_iter().chain([head.as_str(), "--"])).await;
        let Err(failed @ GitError::Failed { .. }) = counted else { return counted };
        for call in ["diff", "diff-index"] {
            let plain = ["--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff"];
            let end = ["--ignore-submodules=dirty", head.as_str(), "--"];
            let listed = self.git.run([call].into_iter().chain(plain).chain(end)).await;
            if listed.is_ok() {
                return listed;
            }
        }
        Err(failed)
    }

    /// What differs between two trees.
    pub async fn between(&self, old: &Tree, new: &Tree) -> Result<Changes, GitError> {
        let printed = self.git.run(DIFF.into_iter().chain([old.as_str(), new.as_str(), "--"]));
        Ok(Changes::first_of(parse(&printed.await.map_err(GitError::or_pruned)?)?))
    }

    /// The tree of the last commit; the empty tree before the first one.
    pub async fn head_tree(&self) -> Result<Tree, GitError> {
        let found = self.git.line(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]).await;
        let tree = match found {
            Err(GitError::Failed { words, .. }) if words.is_empty() => {
                return self.empty_tree().await;
            }
            found => found?,
        };
        Tree::read(&tree)
    }

    /// Its name depends on the repository's hash; computing it writes nothing.
    pub(crate) async fn empty_tree(&self) -> Result<Tree, GitError> {
        Tree::read(&self.git.line(["hash-object", "-t", "tree", "--stdin"]).await?)
    }

    /// Stamps the files, and counts the lines of those that git doesn't know, which its own counts leave out. What git
    /// takes for deleted because it may not look into the directory comes second.
    async fn look_at(&self, files: Vec<Change>) -> Result<(Vec<Change>, Vec<Change>), GitError> {
        let root = self.root.clone();
        let counted = tokio::task::spawn_blocking(move || {
            let mut links = Links::in_tree(&root);
            let is_hidden = |file: &Change| {
                let path = file.path.as_path();
                let found = || root.join(path).symlink_metadata();
                file.kind == Kind::Deleted
                    && !links.lead_to(path)
                    && found().is_err_and(|error| !is_missing(&error))
            };
            let (hidden, mut files): (Vec<_>, Vec<_>) = files.into_iter().partition(is_hidden);
            for file in &mut files {
                file.new = NewFile::OnDisk { stamp: stamp(&root, &file.path) };
            }
            let mut budget = MOST_COUNTED;
            for file in files.iter_mut().filter(|file| file.kind == Kind::Untracked) {
                file.counts = count_lines(&root, &file.path, &mut budget)
                    .map(|added| Counts { added, removed: 0 });
            }
            (files, hidden)
        });
        counted
            .await
            .map_err(|error| GitError::Unexpected { call: "status", what: error.to_string() })
    }
}

impl Changes {
    fn first_of(mut files: Vec<Change>) -> Self {
        let more = files.len().saturating_sub(MOST_FILES);
        files.truncate(MOST_FILES);
        Self { files, more, left_out: Vec::new() }
    }
}

impl Change {
    /// How its mode changed.
    pub fn became(&self) -> Option<Became> {
        match (self.old.as_ref()?.1, self.mode?) {
            (old, new) if old == new => None,
            (_, LINK) => Some(Became::Link),
            (LINK, _) => Some(Became::File),
            (_, new) if new & 0o100 != 0 => Some(Became::Executable),
            (_, _) => Some(Became::Plain),
        }
    }

    /// Differs whenever the new file does.
    pub fn version(&self) -> String {
        let mode = self.mode.unwrap_or_default();
        match &self.new {
            NewFile::Object(name) => format!("{mode:o} {name}"),
            NewFile::OnDisk { stamp } => format!("{mode:o} {stamp}"),
        }
    }
}

/// Reads what `diff --raw --numstat -z` prints: all raw lines, then all counts.
fn parse(printed: &[u8]) -> Result<Vec<Change>, GitError> {
    let mut fields = printed.split(|&byte| byte == 0).filter(|field| !field.is_empty()).peekable();
    let mut files: BTreeMap<RepoPath, Change> = BTreeMap::new();
    while let Some(raw) = fields.next_if(|field| field.starts_with(b":")) {
        let change = parse_raw(raw, &mut fields)?;
        files.insert(change.path.clone(), change);
    }
    while let Some(line) = fields.next() {
        let mut columns = line.splitn(3, |&byte| byte == b'\t');
        let (added, removed) = (number(columns.next()), number(columns.next()));
        let path = match columns.next() {
            // A rename has its two paths in fields of their own.
            Some(b"") | None => {
                fields.next();
                fields.next().ok_or_else(|| unexpected("counts without a path"))?
            }
            Some(path) => path,
        };
        if let Some(change) = files.get_mut(&RepoPath::new(path)) {
            change.counts = added.zip(removed).map(|(added, removed)| Counts { added, removed });
        }
    }
    Ok(files.into_values().collect())
}

/// `:100644 100755 <old> <new> M`, followed by one path, or two for a rename.
fn parse_raw<'a>(
    raw: &'a [u8],
    fields: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<Change, GitError> {
    let Columns { old, new, object, status } = parse_columns(raw)?;
    let mut path =
        || fields.next().map(RepoPath::new).ok_or_else(|| unexpected("a change without a path"));
    let first = path()?;
    let is_submodule = [&old, &new].into_iter().flatten().any(|entry| entry.mode == SUBMODULE);
    let (path, kind) = match Some(&status) {
        Some(b'R' | b'C') => (path()?, Kind::Renamed { from: first }),
        _ if is_submodule => (first, Kind::Submodule),
        Some(b'A') => (first, Kind::Added),
        Some(b'D') => (first, Kind::Deleted),
        Some(_) | None => (first, Kind::Modified),
    };
    let old = old.map(|entry| (entry.object, entry.mode));
    let mode = new.map(|entry| entry.mode);
    Ok(Change { path, kind, counts: None, old, mode, new: NewFile::Object(object) })
}

/// What a raw line says about both sides.
pub(crate) struct Columns {
    pub old: Option<Entry>,
    pub new: Option<Entry>,
    /// The new object's name, even if there is none.
    object: String,
    status: u8,
}

/// `:100644 100755 <old> <new> M`
pub(crate) fn parse_columns(raw: &[u8]) -> Result<Columns, GitError> {
    let raw = std::str::from_utf8(raw).map_err(|_not_utf8| unexpected("a raw line"))?;
    let columns: Vec<&str> = raw.strip_prefix(':').unwrap_or(raw).split(' ').collect();
    let [old_mode, new_mode, old_object, new_object, status] = columns[..] else {
        return Err(unexpected(raw));
    };
    let entry = |mode: &str, object: &str| {
        let mode = u32::from_str_radix(mode, 8).ok().filter(|&mode| mode != 0)?;
        Some(Entry { mode, object: object.to_owned() })
    };
    let (old, new) = (entry(old_mode, old_object), entry(new_mode, new_object));
    let status = status.as_bytes().first().copied().unwrap_or(b'M');
    Ok(Columns { old, new, object: new_object.to_owned(), status })
}

/// Reads what `ls-files --unmerged -z` prints: mode, object and stage, a tab, the path.
fn unmerged_paths(printed: &[u8]) -> BTreeSet<RepoPath> {
    let lines = printed.split(|&byte| byte == 0);
    lines
        .filter_map(|line| line.splitn(2, |&byte| byte == b'\t').nth(1))
        .map(RepoPath::new)
        .collect()
}

/// `-` stands for a binary file.
fn number(column: Option<&[u8]>) -> Option<usize> {
    std::str::from_utf8(column?).ok()?.parse().ok()
}

fn unexpected(what: &str) -> GitError {
    GitError::Unexpected { call: "diff", what: what.to_owned() }
}

#[cfg(test)]
mod hostile;
