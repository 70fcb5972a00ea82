//! Damaged `projects.json`, `sessions.json` and `door.json`: a file that is not understood is never overwritten, and
//! one that is can be changed and read again.

use std::fs;

use proptest::prelude::*;

use super::sessions_file::Sessions;
use super::*;
use crate::door::DoorFile;
use crate::projects::ProjectsFile;

fn projects() -> Vec<String> {
    [
        r#"{"version":1,"projects":[
            {"id":"p1","path":"/home/user/demo","name":"demo","addedAt":"2026-01-02T03:04:05.678Z"}]}"#,
        r#"{"version":1,"data":[
            {"id":"p1","path":"/home/user/demo","name":"demo","addedAt":"2026-01-02T03:04:05.678Z"}]}"#,
        r#"{"version":1,"projects":[],"removed":[
            {"id":"p2","path":"/home/user/x","name":"x","addedAt":"2026-01-02T03:04:05.678Z"}]}"#,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn sessions() -> Vec<String> {
    [
        r#"{"version":1,"sessions":[
            {"id":"codex:s1","projectId":"p1","cliType":"codex","archived":false,"title":"New Session",
             "lastActiveAt":"2026-01-02T03:04:05.678Z","createdAt":"2026-01-02T03:04:05.678Z",
             "policy":"ask","titleBy":"derived","more":{"x":[1]}},
            {"id":"claude-code:s2","projectId":"p1","cliType":"claude-code","archived":true,"title":"T",
             "lastActiveAt":"2026-01-02T03:04:05.678Z","createdAt":"2026-01-02T03:04:05.678Z",
             "agentRef":"r"}]}"#,
        r#"{"version":1,"data":[
            {"id":"codex:s1","projectId":"p1","cliType":"codex","archived":false,"title":"New Session",
             "lastActiveAt":"2026-01-02T03:04:05.678Z","createdAt":"2026-01-02T03:04:05.678Z"}]}"#,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn door() -> Vec<String> {
    [
        r#"{"version":1,"browsers":[
            {"id":"b1","name":"Firefox on Linux","origin":"http://127.0.0.1:1","key":{"public":"BAAA"},
             "firstSeen":"2026-01-02T03:04:05.678Z","lastSeen":"2026-01-02T03:04:05.678Z"}]}"#,
        r#"{"version":1,"browsers":[]}"#,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn check<D: Document>(bytes: &[u8]) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(D::FILE);
    fs::write(&path, bytes).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let written = {
        let file = JsonFile::<D>::open(home.path());
        let trouble = file.trouble();
        let changed = runtime.block_on(file.change::<_, StoreError>(|_document| Ok(()), |()| {}));
        assert_eq!(changed.as_ref().err(), trouble.as_ref());
        let shown = file.look(|document| serde_json::to_value(document).unwrap());
        shown.ok()
    };
    match written {
        // Refused: the file is unchanged, and no other was created.
        None => {
            assert_eq!(fs::read(&path).unwrap(), bytes);
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        }
        Some(written) => {
            let again = JsonFile::<D>::open(home.path());
            assert_eq!(again.trouble(), None);
            let again = again.look(|document| serde_json::to_value(document).unwrap()).unwrap();
            assert_eq!(again, written);
        }
    }
}

#[test]
fn the_files_are_right_before_they_are_damaged() {
    let home = tempfile::tempdir().unwrap();
    for ((projects, sessions), door) in projects().iter().zip(&sessions()).zip(&door()) {
        fs::write(home.path().join("projects.json"), projects).unwrap();
        fs::write(home.path().join("door.json"), door).unwrap();
        fs::write(home.path().join("sessions.json"), sessions).unwrap();
        assert_eq!(troubles::<ProjectsFile, DoorFile>(home.path()), []);
    }
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn projects_json_may_hold_anything(bytes in liminal_hostile::text(projects())) {
        check::<ProjectsFile>(&bytes);
    }

    #[test]
    fn sessions_json_may_hold_anything(bytes in liminal_hostile::text(sessions())) {
        check::<Sessions>(&bytes);
    }

    #[test]
    fn door_json_may_hold_anything(bytes in liminal_hostile::text(door())) {
        check::<DoorFile>(&bytes);
    }
}
