//! The current branch, and what it branched from.

use crate::{GitError, Repository, Tree};

impl Repository {
    /// The current branch; `None` while HEAD names a commit instead.
    pub async fn branch(&self) -> Result<Option<String>, GitError> {
        self.quiet_line(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await
    }

    /// What the current branch branched from, and the tree there. `asked`, or the remote's main branch, or `main` or
    /// `master`; `None` if none exists, or if it is the current branch.
    pub async fn base(&self, asked: Option<&str>) -> Result<Option<(String, Tree)>, GitError> {
        let current = self.branch().await?;
        let remote =
            self.quiet_line(&["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
        let candidates = match asked {
            Some(asked) => vec![asked.to_owned()],
            None => {
                let usual = ["main", "master"].map(str::to_owned);
                remote.await?.into_iter().chain(usual).collect()
            }
        };
        for name in candidates {
            if current.as_deref() == Some(name.strip_prefix("origin/").unwrap_or(&name)) {
                return Ok(None);
            }
            let commit = format!("{name}^{{commit}}");
            let found = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
            let Some(commit) = self.quiet_line(&found).await? else { continue };
            let Some(fork) = self.quiet_line(&["merge-base", &commit, "HEAD"]).await? else {
                continue;
            };
            let tree =
                self.git.line(["rev-parse", "--verify", &format!("{fork}^{{tree}}")]).await?;
            return Ok(Some((name, Tree::read(&tree)?)));
        }
        Ok(None)
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
