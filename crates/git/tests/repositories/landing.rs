//! Merging and listing commits for a landing: nothing that the repository configures runs.

use liminal_git::{BranchMove, GitError, Merged, RepoPath, Repository};

use crate::scratch::Scratch;

#[tokio::test]
async fn a_merge_runs_no_program_that_the_repository_names_for_it() {
    let scratch = Scratch::with_commit();
    scratch.write(".gitattributes", "one.txt merge=own\n");
    scratch.commit("attributes");
    scratch.git(&["checkout", "--quiet", "-b", "side"]);
    scratch.write("one.txt", "A\nb\nc\n");
    scratch.commit("side");
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.write("one.txt", "a\nb\nC\n");
    scratch.commit("main");
    let ran = scratch.path().join("ran");
    scratch.git(&["config", "merge.own.driver", &format!("touch {}", ran.display())]);

    let repository = Repository::at(&scratch.path()).await.unwrap();
    let merged = repository.merge_commits("main", "side").await.unwrap();
    assert!(matches!(merged, Merged::Clean(_)), "{merged:?}");
    scratch.git(&["checkout", "--quiet", "side"]);
    repository.start_merge("main", "Merge main").await.unwrap();
    assert!(!ran.exists());
}

#[tokio::test]
async fn a_merge_that_a_program_is_named_for_ends_as_if_there_were_none() {
    for (base, ours, theirs) in [
        (&b"\0base"[..], &b"\0ours"[..], &b"\0theirs"[..]),
        (b"a\nb\nc\n", b"ours\nb\nc\n", b"theirs\nb\nc\n"),
        (b"a\nb\nc\n", b"ours\nb\nc\n", b"a\nb\ntheirs\n"),
    ] {
        let scratch = Scratch::new(&[]);
        scratch.write(".gitattributes", "file merge=own\n");
        scratch.write("file", base);
        scratch.commit("base");
        scratch.git(&["checkout", "--quiet", "-b", "side"]);
        scratch.write("file", theirs);
        scratch.commit("theirs");
        scratch.git(&["checkout", "--quiet", "main"]);
        scratch.write("file", ours);
        scratch.commit("ours");
        let repository = Repository::at(&scratch.path()).await.unwrap();
        let without = repository.merge_commits("main", "side").await.unwrap();
        scratch.git(&["config", "merge.own.driver", "false"]);
        assert_eq!(repository.merge_commits("main", "side").await.unwrap(), without);
        repository.start_merge("side", "Merge side").await.unwrap();
        let (Merged::Clean(tree) | Merged::Conflicts { marked: tree, .. }) = without;
        let marked = scratch.git(&["cat-file", "blob", &format!("{}:file", tree.as_str())]);
        let found = std::fs::read(scratch.path().join("file")).unwrap();
        assert_eq!(String::from_utf8(found).unwrap().trim().replace("HEAD", "main"), marked);
    }
}

#[tokio::test]
async fn signatures_are_not_checked_where_commits_are_listed() {
    let scratch = Scratch::with_commit();
    let (program, ran) = (scratch.path().join(".git/gpg"), scratch.path().join(".git/ran"));
    let signs =
        "echo '[GNUPG:] SIG_CREATED ' >&2; echo '-----BEGIN PGP SIGNATURE-----'; echo; echo x";
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\n{signs}; echo '-----END PGP SIGNATURE-----'\ntouch {}\n",
        ran.display()
    );
    scratch.executable(&program, &script);
    scratch.git(&["config", "gpg.program", program.to_str().unwrap()]);
    scratch.git(&["config", "log.showSignature", "true"]);
    scratch.git(&["checkout", "--quiet", "-b", "side"]);
    scratch.git(&["commit", "--quiet", "--allow-empty", "--gpg-sign", "--message", "Signed"]);
    assert!(ran.exists(), "it was signed");
    std::fs::remove_file(&ran).unwrap();

    let repository = Repository::at(&scratch.path()).await.unwrap();
    assert_eq!(repository.subjects("main", "side").await.unwrap(), ["Signed"]);
    repository.hold("side").await.unwrap();
    assert!(!ran.exists());
}

#[tokio::test]
async fn a_file_that_changed_since_the_plan_stops_the_move_and_the_index_forgets_it() {
    let scratch = Scratch::with_commit();
    let from = scratch.git(&["rev-parse", "HEAD"]);
    scratch.git(&["checkout", "--quiet", "-b", "side"]);
    scratch.write("made.txt", "made\n");
    scratch.write("ignored.txt", "ignored\n");
    scratch.commit("side");
    let to = scratch.git(&["rev-parse", "HEAD"]);
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.write(".git/info/exclude", "ignored.txt\n");
    scratch.write("made.txt", "made\n");
    let store = tempfile::tempdir().unwrap();
    let repository = Repository::at(&scratch.path()).await.unwrap();
    let checkpoints = repository.checkpoints(store.path()).unwrap();
    let standing = vec![RepoPath::new(b"made.txt")];
    let moved = BranchMove {
        checkout: Some(scratch.path()),
        branch: "main".to_owned(),
        from: from.clone(),
        to,
        standing,
    };
    let refused = async || {
        let failed = moved.carry_out(&checkpoints, "why").await.unwrap_err();
        assert!(matches!(failed, GitError::InTheWay { .. }), "{failed}");
        assert_eq!(scratch.git(&["rev-parse", "main"]), from);
        assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "");
    };
    // git itself would replace an ignored file.
    scratch.write("ignored.txt", "mine\n");
    refused().await;
    std::fs::remove_file(scratch.path().join("ignored.txt")).unwrap();
    scratch.write("made.txt", "mine\n");
    refused().await;
    scratch.write("made.txt", "made\n");
    moved.carry_out(&checkpoints, "why").await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    // Planned before somebody else landed the same: the index is theirs.
    let late = moved.carry_out(&checkpoints, "why").await.unwrap_err();
    assert!(matches!(late, GitError::Failed { .. }), "{late}");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    moved.reversed().carry_out(&checkpoints, "why").await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? made.txt");

    // What is staged stays so, there and back.
    scratch.write("one.txt", "staged\n");
    scratch.git(&["add", "one.txt"]);
    moved.carry_out(&checkpoints, "why").await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "M  one.txt");
    moved.reversed().carry_out(&checkpoints, "why").await.unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), "M  one.txt\n?? made.txt");
}
