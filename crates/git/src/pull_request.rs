//! Pull requests: a branch is pushed by git, and the program `gh` opens the request.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use tokio::process::Command;

use crate::command::{Answer, Git, OwnPrograms, finish};
use crate::start::start;
use crate::{GitError, Repository};

/// What a pull request is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    pub remote: String,
    pub branch: String,
    pub base: String,
    pub title: String,
    pub body: String,
}

/// Whether `gh` can be called.
pub fn has_gh() -> bool {
    let directories = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&directories).any(|directory| {
        let found = std::fs::metadata(directory.join("gh"));
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

impl Repository {
    /// Where a branch is pushed to: where its base comes from, else `origin`, else the only remote.
    pub async fn remote(&self, base: &str) -> Result<Option<String>, GitError> {
        let of_base = format!("branch.{base}.remote");
        let printed = self.git.run(["remote"]).await?;
        let remotes: Vec<String> =
            String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect();
        let usual = self.quiet_line(&["config", "--get", &of_base]).await?;
        let usual = [usual.as_deref(), Some("origin")].into_iter().flatten();
        let found = usual.into_iter().find(|name| remotes.iter().any(|remote| remote == name));
        let only = if remotes.len() == 1 { remotes.first().cloned() } else { None };
        Ok(found.map(str::to_owned).or(only))
    }

    /// Pushes a branch, never by force, and opens a pull request. Runs the user's hooks. Returns its link.
    pub async fn open_pull_request(
        &self,
        request: &PullRequest,
        own: &OwnPrograms,
    ) -> Result<String, GitError> {
        let PullRequest { remote, branch, base, title, body } = request;
        let refs = format!("refs/heads/{branch}:refs/heads/{branch}");
        let push = ["push", "--set-upstream", "--", remote, &refs].map(Into::into);
        let pushed = Git::quiet(&self.root).with_hooks().marked(own);
        let pushed = pushed.attempt(push.into(), Vec::new(), own.limit).await?;
        if pushed.code != Some(0) {
            return Err(GitError::Failed { call: "push".into(), words: said(pushed) });
        }
        let mut command = Command::new("gh");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command
            .args(["pr", "create"])
            .arg(format!("--title={title}"))
            .arg(format!("--body={body}"))
            .arg(format!("--base={base}"))
            .arg(format!("--head={branch}"))
            .env("GH_PROMPT_DISABLED", "1")
            .env("GH_NO_UPDATE_NOTIFIER", "1")
            .env("NO_COLOR", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .envs(own.mark.clone())
            .current_dir(&self.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let child = start(command).await.map_err(|error| GitError::Gh(error.to_string()))?;
        let answer = finish(child, "gh pr create", Vec::new(), own.limit).await?;
        let printed = String::from_utf8_lossy(&answer.printed).into_owned();
        if answer.code != Some(0) {
            return Err(GitError::Gh(said(answer)));
        }
        let link = printed.split_whitespace().rev().find(|word| word.starts_with("https://"));
        link.map(str::to_owned).ok_or_else(|| GitError::Gh(format!("it named no link: {printed}")))
    }
}

/// All that a program printed.
fn said(answer: Answer) -> String {
    let said = [answer.words, String::from_utf8_lossy(&answer.printed).into_owned()];
    said.join("\n").trim().to_owned()
}
