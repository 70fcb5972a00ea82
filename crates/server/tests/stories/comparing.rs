//! One message to several agents, each in a worktree of its own.

use std::path::{Path, PathBuf};

use liminal_contract::{
    ChangeAct, CliType, ClientMessage, Compare, CompareAgent, ErrorCode, MemberState, Project,
    ServerMessage, SessionId,
};
use liminal_scripted_agent::{Steps, script};

use crate::support::acts::git;
use crate::support::{App, Browser, Launch};

async fn repository(app: &App, browser: &mut Browser) -> (PathBuf, Project) {
    let directory = PathBuf::from(app.directory("project"));
    git(&directory, &["init", "--quiet", "--initial-branch", "main"]);
    std::fs::write(directory.join(".gitignore"), "built\n").unwrap();
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "--quiet", "--message", "first"]);
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    (directory, project)
}

fn agent(cli_type: &str) -> CompareAgent {
    let cli_type = CliType::parse(cli_type).unwrap();
    CompareAgent { cli_type, options: Default::default(), policy: None }
}

fn start(project: &Project, agents: &[&str]) -> ClientMessage {
    ClientMessage::CompareStart {
        project_id: project.id.clone(),
        base: None,
        bring: None,
        content: "Make it".to_owned(),
        attachments: Vec::new(),
        agents: agents.iter().map(|cli_type| agent(cli_type)).collect(),
        confirmed: None,
    }
}

fn keep(compare: &Compare, session_id: &SessionId) -> ClientMessage {
    let (compare_id, session_id) = (compare.id.clone(), session_id.clone());
    ClientMessage::CompareKeep { compare_id, session_id, discard_others: true }
}

impl Browser {
    async fn compares(&mut self, project: &Project, agents: &[&str]) -> Compare {
        match self.ask(start(project, agents)).await {
            ServerMessage::CompareChanged { compare } => compare,
            other => panic!("not started: {other:?}"),
        }
    }

    async fn comparisons(&mut self) -> Vec<Compare> {
        match self.ask(ClientMessage::CompareList {}).await {
            ServerMessage::CompareList { compares } => compares,
            other => panic!("no list: {other:?}"),
        }
    }

    /// Waits until every member has started or failed.
    async fn sees_all_under_way(&mut self) -> Compare {
        self.sees("a comparison in which nothing starts any more", |frame| {
            let compare: Compare = serde_json::from_value(frame.get("compare")?.clone()).ok()?;
            let is_settled = |state: &MemberState| *state != MemberState::Starting {};
            compare.members.iter().all(|member| is_settled(&member.state)).then_some(compare)
        })
        .await
    }
}

/// The sessions of the members that started.
fn sessions(compare: &Compare) -> Vec<SessionId> {
    compare.members.iter().filter_map(|member| member.state.session().cloned()).collect()
}

#[tokio::test]
async fn each_agent_works_in_a_worktree_of_its_own_and_one_that_fails_stops_no_other() {
    let works = || script().on_any_prompt().write_file_as("w", "made.txt", "made\n").say("Done.");
    let launch = Launch::new().agents(&[
        ("one", works()),
        ("refusing", script().refuse_new(-32603, "not today")),
        ("two", works()),
    ]);
    let app = launch.start().await;
    let mut browser = app.browser().await;
    let mut other = app.browser().await;
    let (directory, project) = repository(&app, &mut browser).await;
    let begun = browser.compares(&project, &["one", "refusing", "two"]).await;
    assert!(begun.members.iter().all(|member| member.state == MemberState::Starting {}));
    assert_eq!(begun.base.as_deref(), Some("main"));

    let compare = browser.sees_all_under_way().await;
    assert_eq!(other.sees_all_under_way().await, compare, "everyone is told");
    assert!(
        matches!(&compare.members[1].state, MemberState::Failed { message } if message.contains("not today"))
    );
    let started = sessions(&compare);
    assert_eq!(started.len(), 2);
    let mut branches = Vec::new();
    for session in &started {
        browser.opens(session).await;
        browser.sees_state(session, "idle").await;
        let listed = browser.sessions(&project).await;
        let row = listed.iter().find(|row| row.id == *session).unwrap();
        let worktree = row.worktree.clone().unwrap();
        let made = std::fs::read_to_string(Path::new(&worktree.path).join("made.txt")).unwrap();
        assert_eq!(made, "made\n");
        branches.push(worktree.branch);
    }
    assert_eq!(branches, ["liminal/make-it-one", "liminal/make-it-two"]);
    assert!(!directory.join("made.txt").exists());
    assert_eq!(git(&directory, &["branch", "--list", "liminal/*"]).lines().count(), 2);

    let app = app.restart().await;
    assert_eq!(app.browser().await.comparisons().await, [compare]);
}

#[tokio::test]
async fn a_comparison_that_comes_to_nothing_keeps_the_users_words() {
    let refuses = || script().refuse_new(-32603, "not today");
    let app = Launch::new().agents(&[("one", refuses()), ("two", refuses())]).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = repository(&app, &mut browser).await;
    browser.compares(&project, &["one", "two"]).await;
    let compare = browser.sees_all_under_way().await;
    assert_eq!(browser.comparisons().await, std::slice::from_ref(&compare));
    assert_eq!(compare.content, "Make it");
    assert_eq!(git(&directory, &["branch", "--list", "liminal/*"]), "");

    let app = app.restart().await;
    assert_eq!(app.browser().await.comparisons().await, [compare]);
}

#[tokio::test]
async fn keeping_one_discards_the_others_without_losing_their_work() {
    let works = script().on_any_prompt().write_file_as("w", "made.txt", "made\n").say("Done.");
    let app = Launch::new().agent(works).start().await;
    let mut browser = app.browser().await;
    let (directory, project) = repository(&app, &mut browser).await;
    browser.compares(&project, &["scripted", "scripted"]).await;
    let compare = browser.sees_all_under_way().await;
    let started = sessions(&compare);
    for session in &started {
        browser.opens(session).await;
        browser.sees_state(session, "idle").await;
    }
    let listed = browser.sessions(&project).await;
    let worktree = |session: &SessionId| {
        listed.iter().find(|row| row.id == *session).unwrap().worktree.clone().unwrap()
    };
    let (kept, discarded) = (worktree(&started[0]), worktree(&started[1]));
    std::fs::write(Path::new(&discarded.path).join("built"), "ignored").unwrap();

    match browser.ask(keep(&compare, &started[0])).await {
        ServerMessage::CompareChanged { compare } => {
            assert_eq!(compare.kept.as_ref(), Some(&started[0]));
            let gone = MemberState::Discarded { session_id: started[1].clone() };
            assert_eq!(compare.members[1].state, gone);
        }
        other => panic!("not kept: {other:?}"),
    }
    assert!(!Path::new(&discarded.path).exists() && Path::new(&kept.path).exists());
    assert_eq!(git(&directory, &["branch", "--list", &discarded.branch]).trim(), discarded.branch);
    let left: Vec<_> = browser.sessions(&project).await.into_iter().map(|row| row.id).collect();
    assert_eq!(left, [started[0].clone()]);
    // It stays readable.
    assert!(browser.opens(&started[1]).await.texts().contains(&"Done.".to_owned()));
    // And its worktree can be brought back, with what is in no commit.
    let ServerMessage::WorkspaceDiscarded { workspaces } =
        browser.ask(ClientMessage::WorkspaceDiscarded {}).await
    else {
        panic!("no list");
    };
    assert_eq!(workspaces.len(), 1);
    let act = ChangeAct::BringBack { saved: workspaces[0].saved.clone() };
    browser.acts(&started[1], &act).await;
    let read = |name: &str| std::fs::read_to_string(Path::new(&discarded.path).join(name)).unwrap();
    assert_eq!((read("made.txt"), read("built")), ("made\n".into(), "ignored".into()));
}

#[tokio::test]
async fn two_browsers_that_keep_different_ones_at_once_discard_only_one() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let (mut browser, mut other) = (app.browser().await, app.browser().await);
    let (_, project) = repository(&app, &mut browser).await;
    browser.compares(&project, &["scripted", "scripted"]).await;
    let compare = browser.sees_all_under_way().await;
    let started = sessions(&compare);
    let first = browser.send(keep(&compare, &started[0])).await;
    let second = other.send(keep(&compare, &started[1])).await;
    let answers = [browser.sees_reply(&first).await, other.sees_reply(&second).await];
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for (answer, session) in answers.into_iter().zip(&started) {
        match answer {
            ServerMessage::CompareChanged { compare } => {
                assert_eq!(compare.kept.as_ref(), Some(session));
                kept.push(session.clone());
            }
            ServerMessage::Error { code, message, .. } => refused.push((code, message)),
            other => panic!("neither kept nor refused: {other:?}"),
        }
    }
    let words = "Another session of this comparison was kept, and this one was discarded. To continue it, bring its \
                 worktree back in Settings.";
    assert_eq!(refused, [(ErrorCode::ActRefused, words.to_owned())]);
    let left: Vec<_> = browser.sessions(&project).await.into_iter().map(|row| row.id).collect();
    assert_eq!(left, kept);
    assert_eq!(browser.comparisons().await[0].kept.as_ref(), Some(&kept[0]));
}

#[tokio::test]
async fn a_comparison_that_can_not_begin_leaves_nothing() {
    let app = Launch::new().agent(script().on_any_prompt().say("Done.")).start().await;
    let mut browser = app.browser().await;
    let plain = browser.adds_project(&app.directory("plain")).await;
    let refused = |answer| match answer {
        ServerMessage::Error { code, .. } => code,
        other => panic!("started: {other:?}"),
    };
    let answer = browser.ask(start(&plain, &["scripted", "scripted"])).await;
    assert_eq!(refused(answer), ErrorCode::NotARepository);
    let (_, project) = repository(&app, &mut browser).await;
    let answer = browser.ask(start(&project, &["scripted"])).await;
    assert_eq!(refused(answer), ErrorCode::InvalidMessage);
    let answer = browser.ask(start(&project, &["scripted"; 7])).await;
    assert_eq!(refused(answer), ErrorCode::InvalidMessage);
    assert_eq!(browser.comparisons().await, []);
    assert_eq!(browser.sessions(&project).await, []);
}

#[tokio::test]
async fn what_was_starting_when_the_server_was_killed_has_failed() {
    let launch = Launch::new();
    let gate = launch.home().join("gate");
    let slow = script().wait_for_file(gate.to_str().unwrap()).on_any_prompt().say("Done.");
    let quick = script().on_any_prompt().say("Done.");
    let app = launch.agents(&[("slow", slow), ("quick", quick)]).start().await;
    let mut browser = app.browser().await;
    let (_, project) = repository(&app, &mut browser).await;
    browser.compares(&project, &["slow", "quick"]).await;
    browser
        .sees("the quick one", |frame| {
            let compare: Compare = serde_json::from_value(frame.get("compare")?.clone()).ok()?;
            compare.members[1].state.session().cloned()
        })
        .await;
    let app = app.crash_and_restart().await;
    let compares = app.browser().await.comparisons().await;
    assert!(matches!(&compares[0].members[0].state, MemberState::Failed { .. }), "{compares:?}");
    assert!(matches!(&compares[0].members[1].state, MemberState::Started { .. }), "{compares:?}");
}

#[tokio::test]
async fn a_repeated_request_gets_the_comparison_that_it_started() {
    let works = || script().on_any_prompt().say("Done.");
    let app = Launch::new().agents(&[("one", works()), ("two", works())]).start().await;
    let mut browser = app.browser().await;
    let (_directory, project) = repository(&app, &mut browser).await;
    let request = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    let mut frame = serde_json::to_value(start(&project, &["one", "two"])).unwrap();
    frame["requestId"] = request.into();
    browser.says(&frame.to_string()).await;
    browser.says(&frame.to_string()).await;
    for _ in 0..2 {
        let started = browser.sees_reply(request).await;
        let ServerMessage::CompareChanged { compare } = started else { panic!("{started:?}") };
        assert_eq!(compare.id, request);
    }
    browser.sees_all_under_way().await;
    assert_eq!(browser.comparisons().await.len(), 1);
    assert_eq!(browser.sessions(&project).await.len(), 2);
}
