//! Which sessions are listed, and with which details.

use liminal_contract::{ClientMessage, ErrorCode, Policy, ProjectId, ServerMessage};
use liminal_scripted_agent::{Steps, script};

use crate::support::Launch;

#[tokio::test]
async fn each_project_lists_its_own_sessions_with_title_time_and_agent() {
    let plays = || script().on_any_prompt().say("ok").stop("end_turn");
    let app = Launch::new().agents(&[("one", plays()), ("two", plays())]).start().await;
    let mut browser = app.browser().await;
    let web = browser.adds_project(&app.directory("web")).await;
    let api = browser.adds_project(&app.directory("api")).await;
    let empty = browser.adds_project(&app.directory("empty")).await;
    let first = browser.creates_session(&web, "one").await;
    let second = browser.creates_session(&web, "two").await;
    let elsewhere = browser.creates_session(&api, "one").await;
    browser.opens(&first).await;
    let turn = browser.says_to(&first, "Look around").await;
    browser.sees_end(&turn).await;

    let listed = browser.sessions(&web).await;
    let shown: Vec<_> =
        listed.iter().map(|each| (&each.id, each.title.as_str(), each.cli_type.as_str())).collect();
    assert_eq!(shown, [(&first, "Look around", "one"), (&second, "New Session", "two")]);
    assert!(listed[0].last_active_at > listed[1].last_active_at);
    assert!(listed.iter().all(|each| each.created_at >= web.added_at && !each.archived));
    assert_eq!(browser.sessions(&api).await[0].id, elsewhere);
    assert_eq!(browser.sessions(&empty).await, []);
}

#[tokio::test]
async fn a_project_that_is_none_has_no_list() {
    let app = Launch::new().start().await;
    let project_id = ProjectId::new("none");
    let list = ClientMessage::SessionList { project_id, archived: None };
    let answer = app.browser().await.ask(list).await;
    let ServerMessage::Error { code, message, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(code, ErrorCode::ProjectNotFound);
    assert!(message.contains("add its directory again"), "{message}");
}

#[tokio::test]
async fn a_session_made_outside_is_not_listed() {
    let app =
        Launch::new().claude(script().on_any_prompt().say("ok").stop("end_turn")).start().await;
    let mut browser = app.browser().await;
    let path = app.directory("project");
    let project = browser.adds_project(&path).await;
    let ours = browser.creates_session(&project, "claude-code").await;
    browser.opens(&ours).await;
    let turn = browser.says_to(&ours, "hello").await;
    browser.sees_end(&turn).await;

    // Another session in the same directory, as if started in a terminal.
    let kept = app.launch().home().join(".claude/projects");
    let folder = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    let ours_file = folder.join(format!("{}.jsonl", ours.local()));
    let outside = "1b671a64-40d5-491e-99b0-da01ff1f3341";
    let text = std::fs::read_to_string(&ours_file).unwrap().replace(ours.local(), outside);
    std::fs::write(folder.join(format!("{outside}.jsonl")), text).unwrap();

    let app = app.restart().await;
    let listed = app.browser().await.sessions(&project).await;
    assert_eq!(listed.iter().map(|each| &each.id).collect::<Vec<_>>(), [&ours]);
}

#[tokio::test]
async fn of_changes_sent_back_to_back_the_last_one_stays() {
    let plays = script().on_any_prompt().say("ok").stop("end_turn");
    let app = Launch::new().agents(&[("one", plays)]).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("web")).await;
    let session = browser.creates_session(&project, "one").await;
    for round in 0..20 {
        let (first, last) = (format!("first {round}"), format!("last {round}"));
        let session_id = || session.clone();
        browser.send(ClientMessage::SessionRename { session_id: session_id(), title: first }).await;
        let policy = |policy| ClientMessage::SessionPolicy {
            session_id: session_id(),
            policy,
            confirmed: None,
        };
        browser.send(policy(Policy::Auto)).await;
        browser.send(ClientMessage::SessionArchive { session_id: session_id() }).await;
        browser.send(ClientMessage::SessionUnarchive { session_id: session_id() }).await;
        let title = last.clone();
        browser.send(ClientMessage::SessionRename { session_id: session_id(), title }).await;
        let answered = browser.send(policy(Policy::Ask)).await;
        browser.sees_reply(&answered).await;

        let listed = browser.sessions(&project).await;
        assert_eq!(listed.iter().map(|each| each.title.as_str()).collect::<Vec<_>>(), [last]);
        assert_eq!(browser.opens(&session).await.policy, Policy::Ask);
    }
}
