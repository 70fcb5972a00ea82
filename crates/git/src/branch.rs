//! The current branch, what it branched from, and what git is doing with it.

use crate::{GitError, Repository, Tree};

/// Two branches, in commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    pub ahead: u32,
    pub behind: u32,
}

/// Where the current branch left another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The other branch.
    pub base: String,
    /// Its last commit.
    pub tip: String,
    /// The current one's last commit.
    pub head: String,
    /// The last commit that both have.
    pub commit: String,
}

/// Files of the repository that exist while git is in the middle of something. A rebase comes first: it may be in the
/// middle of a merge of its own, which can't be aborted or completed without it.
const UNDER_WAY: [(&str, UnderWay); 5] = [
    ("rebase-merge", UnderWay::Other("rebase")),
    ("rebase-apply", UnderWay::Other("rebase")),
    ("MERGE_HEAD", UnderWay::Merge),
    ("CHERRY_PICK_HEAD", UnderWay::Other("cherry-pick")),
    ("REVERT_HEAD", UnderWay::Other("revert")),
];

/// The same of a bisection, during which everything else works as usual.
const BISECTING: &str = "BISECT_LOG";

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// `None` while HEAD names a commit instead.
    pub branch: Option<String>,
    /// `None` before the first commit.
    pub commit: Option<String>,
}

/// Something that git has begun in a working tree and not completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnderWay {
    Merge,
    /// A rebase, a cherry-pick, a revert, or patches being applied.
    Other(&'static str),
}

impl Repository {
    pub async fn head(&self) -> Result<Head, GitError> {
        let commit = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let (branch, commit) = tokio::try_join!(self.branch(), self.quiet_line(&commit))?;
        Ok(Head { branch, commit })
    }

    /// What has begun here and is not complete.
    pub fn under_way(&self) -> Option<UnderWay> {
        let found = UNDER_WAY.into_iter().find(|(name, _)| self.private.join(name).exists());
        found.map(|(_, what)| what)
    }

    /// The last commit of a local branch.
    pub async fn tip(&self, branch: &str) -> Result<Option<String>, GitError> {
        let name = format!("refs/heads/{branch}^{{commit}}");
        self.quiet_line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name]).await
    }

    /// The current branch; `None` while HEAD names a commit instead.
    pub async fn branch(&self) -> Result<Option<String>, GitError> {
        self.quiet_line(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await
    }

    /// What the current branch branched from, and the tree there. `asked`, or the remote's main branch, or `main` or
    /// `master`; `None` if none exists, or if it is the current branch.
    pub async fn base(&self, asked: Option<&str>) -> Result<Option<(String, Tree)>, GitError> {
        let current = self.branch().await?;
        let Some(fork) = self.fork(asked, current.as_deref()).await? else { return Ok(None) };
        let tree = self.tree_of(&fork.commit).await?;
        Ok(Some((fork.base, tree)))
    }

    /// The same without the tree, for a branch that is known.
    pub async fn fork(
        &self,
        asked: Option<&str>,
        current: Option<&str>,
    ) -> Result<Option<Fork>, GitError> {
        let remote =
            self.quiet_line(&["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
        let candidates = match asked {
            Some(asked) => vec![asked.to_owned()],
            None => {
                let usual = ["main", "master"].map(str::to_owned);
                remote.await?.into_iter().chain(usual).collect()
            }
        };
        for base in candidates {
            if current == Some(base.strip_prefix("origin/").unwrap_or(&base)) {
                return Ok(None);
            }
            // Both commits, and then those in which they meet.
            let both = format!("{base}...HEAD");
            let printed = match self.git.line(["rev-parse", "--end-of-options", &both]).await {
                Ok(printed) => String::from_utf8_lossy(&printed).into_owned(),
                Err(GitError::Failed { .. }) => continue,
                Err(error) => return Err(error),
            };
            let names = printed.lines().filter(|line| !line.starts_with('-')).collect::<Vec<_>>();
            if let [head, tip, meeting, ..] = names[..]
                && let Some(commit) = meeting.strip_prefix('^')
            {
                let [head, tip, commit] = [head, tip, commit].map(str::to_owned);
                return Ok(Some(Fork { base, tip, head, commit }));
            }
        }
        Ok(None)
    }

    /// How many commits only `tip` has, and how many only `base` has. `None` before the first commit.
    pub async fn apart(&self, base: &str, tip: &str) -> Result<Option<Apart>, GitError> {
        let both = format!("{base}...{tip}");
        let call = ["rev-list", "--left-right", "--count", "--end-of-options", &both];
        let counted = match self.git.line(call).await {
            Ok(line) => String::from_utf8_lossy(&line).into_owned(),
            Err(GitError::Failed { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut numbers = counted.split_whitespace().map(str::parse);
        Ok(match (numbers.next(), numbers.next()) {
            (Some(Ok(behind)), Some(Ok(ahead))) => Some(Apart { ahead, behind }),
            _ => None,
        })
    }

    /// What git is in the middle of, in the words of its own commands.
    pub fn doing(&self) -> Option<&'static str> {
        match self.under_way() {
            Some(UnderWay::Merge) => Some("merge"),
            Some(UnderWay::Other(name)) => Some(name),
            None => self.private.join(BISECTING).exists().then_some("bisect"),
        }
    }

    /// The line that a call prints; `None` if it fails without a word, which means that there is no such thing.
    pub(crate) async fn quiet_line(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        match self.git.line(arguments).await {
            Ok(line) => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            Err(GitError::Failed { words, .. }) if words.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
