//! Which files go into the index of a checkpoint. One that git can't read is left out, and costs no other.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::checkpoint::{aside, copy_with_time, unwritable};
use crate::command::Git;
use crate::file::{Links, is_missing};
use crate::path::joined;
use crate::{GitError, RepoPath};

/// In bytes. Larger files that git doesn't track are named, not kept.
pub const LARGEST_UNTRACKED: u64 = 10 << 20;

/// How often git may fail before the files are not to blame.
const MOST_FAILURES: usize = 200;

/// How often git is asked what changed.
const MOST_TRIES: usize = 5;

/// What became of the files that changed.
pub(crate) struct Added {
    pub left_out: Vec<RepoPath>,
    /// git failed on the way, perhaps in the middle of an object.
    pub has_failed: bool,
}

/// Brings an index of ours up to the files as they are.
pub(crate) async fn add_changed(git: &Git, root: &Path, index: &Path) -> Result<Added, GitError> {
    let (listed, root) = (changed(git).await?, root.to_owned());
    let Sorted { gone, kept, mut left_out } = aside(move || Ok(sorted(&root, &listed))).await?;
    if !gone.is_empty() {
        // They must go first: what took their place is added.
        git.run_with(FORGET, joined(&gone)).await?;
    }
    let mut failures = 0;
    if !kept.is_empty() {
        left_out.extend(add(git, index, kept, &mut failures).await?);
    }
    trust(index);
    left_out.sort();
    Ok(Added { left_out, has_failed: failures > 0 })
}

/// As [`listed`], again if a file that is written meanwhile kills git.
async fn changed(git: &Git) -> Result<Vec<u8>, GitError> {
    for _ in 1..MOST_TRIES {
        match listed(git).await {
            Err(GitError::Failed { .. }) => {}
            listed => return listed,
        }
    }
    listed(git).await
}

/// Each path that may have changed, after a letter and a blank, before a zero byte. `?` is one that git doesn't track.
async fn listed(git: &Git) -> Result<Vec<u8>, GitError> {
    let both = ["ls-files", "--modified", "--others", "--exclude-standard", "-t", "-z"];
    let failed = match git.run(both).await {
        Err(error @ GitError::Failed { .. }) => error,
        listed => return listed,
    };
    // It reads files whose times changed, and one that is cut short meanwhile kills it. This goes by times alone.
    let others = both.into_iter().filter(|argument| *argument != "--modified");
    let touched = ["diff-files", "--name-only", "-z", "--ignore-submodules=dirty"];
    let listed = tokio::try_join!(git.run(others), git.run(touched));
    let Ok((mut listed, touched)) = listed else { return Err(failed) };
    for path in touched.split(|&byte| byte == 0).filter(|path| !path.is_empty()) {
        listed.extend_from_slice(b"C ");
        listed.extend_from_slice(path);
        listed.push(0);
    }
    Ok(listed)
}

#[derive(Default)]
struct Sorted {
    /// A link is in the place of their directory, and git refuses to look beyond it; or a directory is in their own
    /// place, and git refuses to look at it once it has added what is in there.
    gone: Vec<RepoPath>,
    kept: Vec<RepoPath>,
    left_out: Vec<RepoPath>,
}

fn sorted(root: &Path, listed: &[u8]) -> Sorted {
    let (mut sorted, mut links) = (Sorted::default(), Links::in_tree(root));
    for line in listed.split(|&byte| byte == 0) {
        let (path, is_tracked) = match line {
            // A repository within the repository is listed as a directory.
            [b'?', b' ', .., b'/'] => continue,
            [b'?', b' ', path @ ..] => (RepoPath::new(path), false),
            [_, b' ', path @ ..] => (RepoPath::new(path), true),
            _ => continue,
        };
        let at = root.join(path.as_path());
        let most = if is_tracked { u64::MAX } else { LARGEST_UNTRACKED };
        let to = if links.lead_to(path.as_path()) || is_tracked && is_plain_directory(&at) {
            &mut sorted.gone
        } else if is_fine(&at, most) {
            &mut sorted.kept
        } else {
            &mut sorted.left_out
        };
        to.push(path);
    }
    sorted
}

/// Whether it is a directory, and no submodule.
fn is_plain_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
        && fs::symlink_metadata(path.join(".git")).is_err_and(|error| is_missing(&error))
}

/// Whether git can add or remove it, as far as that is seen without reading it.
fn is_fine(path: &Path, most: u64) -> bool {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => found.len() <= most && fs::File::open(path).is_ok(),
        // git would refuse to add anything else, and all other files with it.
        Ok(found) => found.is_dir() || found.is_symlink(),
        Err(error) => is_missing(&error),
    }
}

const UPDATE: [&str; 6] = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
pub(crate) const FORGET: [&str; 4] = ["update-index", "-z", "--force-remove", "--stdin"];

/// Adds or removes these paths, and returns those that git refused. It takes all or none; so when it fails, the paths
/// are tried in parts, down to the ones that fail alone.
async fn add(
    git: &Git,
    index: &Path,
    paths: Vec<RepoPath>,
    failures: &mut usize,
) -> Result<Vec<RepoPath>, GitError> {
    let (mut refused, mut parts) = (Vec::new(), vec![paths]);
    while let Some(part) = parts.pop() {
        let added = match *failures {
            0 => git.run_with(UPDATE, joined(&part)).await.map(drop),
            _ => add_alone(git, index, &part).await,
        };
        let error = match added {
            Ok(()) => {
                trust(index);
                continue;
            }
            Err(error) => error,
        };
        let GitError::Failed { words, .. } = &error else { return Err(error) };
        *failures += 1;
        if *failures > MOST_FAILURES || is_about_the_store(words) {
            return Err(error);
        }
        unlock(index);
        match &part[..] {
            // It may have changed in that moment.
            [_] if *failures == 1 => parts.push(part),
            [_] => refused.extend(part),
            _ => parts.extend(split(part, words)),
        }
    }
    Ok(refused)
}

/// Adds these paths without a look at the others. git would read each file that changed in the second in which the
/// index was written, and one of those may be what killed it. So it has to trust the index; and because it would then
/// take such a file for unchanged even if it is one of these, they are added as new ones.
async fn add_alone(git: &Git, index: &Path, part: &[RepoPath]) -> Result<(), GitError> {
    let before = index.with_extension("before");
    copy_with_time(index, &before).map_err(|error| unwritable(&before, &error))?;
    trust(index);
    let mut added = git.run_with(FORGET, joined(part)).await;
    if added.is_ok() {
        trust(index);
        added = git.run_with(UPDATE, joined(part)).await;
    }
    if added.is_err() {
        unlock(index);
        match fs::rename(&before, index) {
            // There was none.
            Err(error) if is_missing(&error) => {
                let _not_written = fs::remove_file(index);
            }
            restored => restored.map_err(|error| unwritable(index, &error))?,
        }
    }
    added.map(drop)
}

/// A signal leaves git no time to.
fn unlock(index: &Path) {
    let _removed_already = fs::remove_file(index.with_extension("lock"));
}

/// git's last line may name a file. Otherwise it is in one of two halves.
fn split(mut paths: Vec<RepoPath>, words: &str) -> [Vec<RepoPath>; 2] {
    let last = words.lines().last().unwrap_or_default();
    let is_named = |path: &RepoPath| {
        last.ends_with(&format!(" path {path}")) || last.contains(&format!("'{path}'"))
    };
    let rest = match paths.iter().position(is_named) {
        Some(at) => {
            let named = paths.swap_remove(at);
            std::mem::replace(&mut paths, vec![named])
        }
        None => paths.split_off(paths.len() / 2),
    };
    [rest, paths]
}

/// Whether it fails for every file: nothing can be written where checkpoints are.
fn is_about_the_store(words: &str) -> bool {
    let reasons = [
        "No space left on device",
        "Disk quota exceeded",
        "Read-only file system",
        "insufficient permission for adding an object",
        "unable to write",
        "unable to create temporary file",
    ];
    reasons.iter().any(|reason| words.contains(reason))
}

/// Makes git take the entries of an index as they are, by a time later than theirs. Otherwise, whenever it writes the
/// index again, it reads the files that changed in the second in which it wrote the last one, and one that is cut short
/// meanwhile kills it. Entries that must be compared once more were marked when git wrote the index first.
fn trust(index: &Path) {
    let later = SystemTime::now() + Duration::from_secs(24 * 60 * 60);
    let index = fs::OpenOptions::new().write(true).open(index);
    // git then works as it usually does.
    let _only_a_precaution = index.and_then(|index| index.set_modified(later));
}
