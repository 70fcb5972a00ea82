//! A real project in a temporary directory, and what an agent may try in it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

/// `home/project` with our data directory inside it, and a secret beside it.
struct Home {
    home: TempDir,
    files: ProjectFiles,
}

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::create_dir_all(project.join(".liminal-builder")).unwrap();
        fs::write(project.join(".liminal-builder/token"), "ours").unwrap();
        fs::write(project.join("notes.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(home.path().join("secret.txt"), "secret").unwrap();
        let files = ProjectFiles::open(&project, &project.join(".liminal-builder")).unwrap();
        Self { home, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("project").join(name)
    }

    fn read(
        &self,
        name: &str,
        line: Option<u32>,
        limit: Option<u32>,
    ) -> Result<String, (i64, String)> {
        let read = self.files.read(&self.path(name), Extent { line, limit });
        read.map_err(|error| self.named(error))
    }

    fn write(&self, name: &str, content: &str) -> Result<(), (i64, String)> {
        self.files.write(&self.path(name), content).map_err(|error| self.named(error))
    }

    /// The code and the message, without the temporary directory.
    fn named(&self, error: FileError) -> (i64, String) {
        let error = RpcError::from(error);
        let home = self.home.path().canonicalize().unwrap();
        (error.code, error.message.replace(&format!("{}/", home.display()), ""))
    }
}

fn refused(code: i64, words: &str) -> Result<String, (i64, String)> {
    Err((code, words.to_owned()))
}

#[test]
fn a_file_is_read_whole_or_by_lines() {
    let home = Home::new();
    let all = "one\ntwo\nthree\n";
    for (line, limit, expected) in [
        (None, None, all),
        (Some(1), None, all),
        (Some(0), None, all),
        (Some(2), None, "two\nthree\n"),
        (Some(2), Some(1), "two\n"),
        (None, Some(2), "one\ntwo\n"),
        (Some(3), Some(9), "three\n"),
        (Some(4), None, ""),
        (Some(99), Some(1), ""),
        (None, Some(0), ""),
    ] {
        assert_eq!(home.read("notes.txt", line, limit).unwrap(), expected, "{line:?} {limit:?}");
    }
    assert_eq!(home.files.read(Path::new("notes.txt"), Extent::default()).unwrap(), all);
    assert_eq!(home.read("src/../notes.txt", None, None).unwrap(), all);
}

#[test]
fn a_missing_file_is_told_by_its_own_code() {
    let home = Home::new();
    assert_eq!(
        home.read("nope.txt", None, None),
        refused(-32002, "project/nope.txt does not exist")
    );
    assert_eq!(
        home.read("no/such/dir.txt", None, None),
        refused(-32002, "project/no/such/dir.txt does not exist")
    );
}

#[test]
fn what_is_not_a_text_file_is_said_so() {
    let home = Home::new();
    fs::write(home.path("picture"), b"\xff\xd8").unwrap();
    assert_eq!(
        home.read("picture", None, None),
        refused(-32603, "project/picture is not UTF-8 text")
    );
    assert_eq!(home.read("src", None, None), refused(-32603, "project/src: not a regular file"));
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let home = Home::new();
    let made = std::process::Command::new("mkfifo").arg(home.path("pipe")).status().unwrap();
    assert!(made.success());
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let read = home.read("pipe", None, None);
        let written = home.write("pipe", "text");
        tell.send((read, written.map(|()| String::new()))).unwrap();
    });
    let answers = told.recv_timeout(std::time::Duration::from_secs(60));
    let no = || refused(-32603, "project/pipe: not a regular file");
    assert_eq!(answers, Ok((no(), no())), "it waits for the other end of the pipe");
}

#[test]
fn nothing_outside_the_project_is_read_or_written() {
    let home = Home::new();
    let secret = home.home.path().canonicalize().unwrap().join("secret.txt");
    symlink(&secret, home.path("link.txt")).unwrap();
    symlink(home.home.path(), home.path("up")).unwrap();
    symlink("../../secret.txt", home.path("src/relative.txt")).unwrap();
    symlink("../new.txt", home.path("dangling.txt")).unwrap();
    for name in [
        "../secret.txt",
        "src/../../secret.txt",
        "link.txt",
        "up/secret.txt",
        "src/relative.txt",
        "/etc/passwd",
        "dangling.txt",
    ] {
        let read = home.read(name, None, None).unwrap_err();
        assert!(read.0 == -32602 || name == "dangling.txt", "{name}: {read:?}");
        let written = home.write(name, "overwritten").unwrap_err();
        assert_eq!(written.0, -32602, "{name}: {written:?}");
        assert!(written.1.ends_with("is outside the project"), "{name}: {written:?}");
    }
    assert!(home.write("up/new.txt", "x").is_err());
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
    assert!(!home.home.path().join("new.txt").exists());
}

#[test]
fn our_own_data_is_not_the_agents() {
    let home = Home::new();
    symlink(".liminal-builder", home.path("alias")).unwrap();
    for name in [".liminal-builder/token", "alias/token", "src/../.liminal-builder/token"] {
        let read = home.read(name, None, None).unwrap_err();
        assert!(read.0 == -32602 && read.1.ends_with("belongs to Liminal Builder"), "{read:?}");
        assert!(home.write(name, "stolen").is_err(), "{name}");
    }
    assert!(home.write(".liminal-builder/new/file", "x").is_err());
    assert!(home.write("alias/new", "x").is_err());
    assert_eq!(fs::read_to_string(home.path(".liminal-builder/token")).unwrap(), "ours");
    assert_eq!(fs::read_dir(home.path(".liminal-builder")).unwrap().count(), 1);
}

#[test]
fn a_write_makes_directories_and_keeps_rights_and_links() {
    let home = Home::new();
    home.write("deep/er/new.txt", "made").unwrap();
    assert_eq!(fs::read_to_string(home.path("deep/er/new.txt")).unwrap(), "made");

    fs::set_permissions(home.path("notes.txt"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("notes.txt", home.path("link.txt")).unwrap();
    home.write("link.txt", "changed").unwrap();
    assert_eq!(fs::read_to_string(home.path("notes.txt")).unwrap(), "changed");
    assert_eq!(fs::metadata(home.path("notes.txt")).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(fs::symlink_metadata(home.path("link.txt")).unwrap().is_symlink());

    // No temporary file remains, and a failed write changes nothing.
    assert!(home.write("src", "not a file").is_err());
    let mut left: Vec<_> =
        fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".liminal-builder", "deep", "link.txt", "notes.txt", "src"]);
}

#[test]
fn the_project_may_be_named_through_a_link_above_it() {
    let home = Home::new();
    symlink(home.home.path().join("project"), home.home.path().join("alias")).unwrap();
    let read = home.files.read(&home.home.path().join("alias/notes.txt"), Extent::default());
    assert_eq!(read.unwrap(), "one\ntwo\nthree\n");
    assert!(home.files.write(&home.home.path().join("alias/new/a.txt"), "a").is_ok());
}

#[test]
fn a_command_runs_in_a_directory_of_the_project() {
    let home = Home::new();
    assert_eq!(home.files.directory(&home.path("src")).unwrap(), home.path("src"));
    assert!(home.files.directory(&home.path("notes.txt")).is_err());
    assert!(home.files.directory(Path::new("/")).is_err());
}

#[test]
fn a_file_is_not_read_farther_than_it_may() {
    let home = Home::new();
    let huge = fs::File::create(home.path("huge")).unwrap();
    huge.set_len(8 << 40).unwrap();
    let words = "project/huge is too large: reading stops after 256 MB or 2 s, and these lines are beyond that";
    let beyond = refused(RpcError::INTERNAL, words);
    assert_eq!(home.read("huge", Some(2), None), beyond);
    assert_eq!(home.read("huge", Some(u32::MAX), Some(1)), beyond);
    let whole = refused(RpcError::INTERNAL, "project/huge has more than 32 MB; read it in parts");
    assert_eq!(home.read("huge", None, None), whole);
}
