//! Real repositories for the tests.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use liminal_git::{Change, Counts, Kind, Repository};

/// A new repository in a directory of its own.
pub struct Scratch(pub tempfile::TempDir);

impl Scratch {
    pub fn new(init: &[&str]) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        scratch.git(&[&["init", "--quiet", "--initial-branch", "main"], init].concat());
        scratch
    }

    /// With one commit of `one.txt`, three lines.
    pub fn with_commit() -> Self {
        let scratch = Self::new(&[]);
        scratch.write("one.txt", "a\nb\nc\n");
        scratch.commit("first");
        scratch
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A script that can be run at once. Another process writes it: of what we have open for writing, a child that
    /// another test is just starting has a copy, and nobody can run a program that is open for writing.
    pub fn executable(&self, path: impl AsRef<Path>, script: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut writer = Command::new("sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success(), "{} was not written", path.display());
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"])
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    pub async fn changes(&self) -> Vec<Change> {
        Repository::at(&self.path()).await.unwrap().uncommitted().await.unwrap().files
    }

    /// Path, kind and counts of each change.
    pub async fn listed(&self) -> Vec<(String, Kind, Option<(usize, usize)>)> {
        let counts = |counts: Counts| (counts.added, counts.removed);
        let files = self.changes().await;
        files.into_iter().map(|c| (c.path.to_string(), c.kind, c.counts.map(counts))).collect()
    }
}

/// Every file below a directory, with its content and time.
pub fn fingerprint(root: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(fingerprint(&path));
        } else {
            let time = path.metadata().unwrap().modified().unwrap();
            found.push((path.clone(), std::fs::read(&path).unwrap(), time));
        }
    }
    found.sort();
    found
}
