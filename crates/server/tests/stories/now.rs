//! Now: what waits, works, is done and stopped, in all sessions.

use liminal_contract::{
    ChangeAct, ChangeCounts, ClientMessage, LandHow, NowRow, PlanStatus, ServerMessage, SessionId,
    SessionState,
};
use liminal_scripted_agent::{PlanStatus as Step, Steps, act, answered, script};

use crate::support::acts::{repository, worktree};
use crate::support::{App, Browser, Launch};

impl Browser {
    async fn follows_now(&mut self) -> Vec<NowRow> {
        match self.ask(ClientMessage::NowFollow {}).await {
            ServerMessage::NowSummary { sessions, .. } => sessions,
            other => panic!("no summary: {other:?}"),
        }
    }

    /// Waits for a row of this session that `is_it`.
    async fn sees_row(&mut self, session: &SessionId, is_it: impl Fn(&NowRow) -> bool) -> NowRow {
        self.sees("a row", |frame| {
            let rows: Vec<NowRow> = serde_json::from_value(frame.get("sessions")?.clone()).ok()?;
            rows.into_iter().find(|row| row.session.id == *session && is_it(row))
        })
        .await
    }

    async fn sees_gone(&mut self, session: &SessionId) {
        self.sees("a row that is gone", |frame| {
            let gone = frame["gone"].as_array()?;
            gone.iter().any(|id| id == session.as_str()).then_some(())
        })
        .await;
    }

    async fn looks_at(&mut self, session: &SessionId) {
        let looked = ClientMessage::SessionLooked { session_id: session.clone(), state: None };
        let answer = self.ask(looked).await;
        assert!(matches!(answer, ServerMessage::SessionLooked { .. }), "{answer:?}");
    }
}

#[tokio::test]
async fn a_permission_is_shown_whole_and_answered_without_opening_the_session() {
    let (app, mut browser, session) = App::with_session(
        script()
            .on_prompt("act")
            .command("c1", "rm -rf target")
            .ask("c1", answered("allow", act().say("All clean.")).or(act().say("not done")))
            .stop("end_turn"),
    )
    .await;
    browser.says_to(&session, "act").await;
    browser.sees_ask(&session).await;

    let mut phone = app.browser().await;
    let row = phone.follows_now().await.remove(0);
    assert_eq!(row.session.state, SessionState::Waiting);
    let card = row.card.unwrap();
    assert!(serde_json::to_string(&card).unwrap().contains("rm -rf target"));
    assert_eq!(row.since, card.started_at);

    let answer = phone.answers(&session, &card.item_id, "allow").await;
    assert!(matches!(answer, ServerMessage::Ok {}), "{answer:?}");
    // The state may be a moment ahead of the words, which come from the journal.
    let is_done = |row: &NowRow| {
        row.session.state == SessionState::Idle && row.line.as_deref() == Some("All clean.")
    };
    let done = phone.sees_row(&session, is_done).await;
    assert!(done.session.unread && done.card.is_none());
    assert!(phone.everything_seen().all(|frame| frame["type"] != "session:upsert"));
}

#[tokio::test]
async fn a_working_session_shows_its_last_line_and_the_progress_of_its_plan() {
    let gate = tempfile::tempdir().unwrap();
    let go_on = gate.path().join("go-on");
    let (_app, mut browser, session) = App::with_session(
        script()
            .on_prompt("work")
            .plan(&[("Read", Step::Completed), ("Write", Step::InProgress)])
            .say("First line.\n\nReading the *tests*")
            .wait_for_file(go_on.to_string_lossy())
            .stop("end_turn"),
    )
    .await;
    browser.follows_now().await;
    browser.says_to(&session, "work").await;
    let says = |row: &NowRow| row.line.as_deref() == Some("Reading the tests");
    let row = browser.sees_row(&session, says).await;
    assert_eq!(row.plan, [PlanStatus::Completed, PlanStatus::InProgress]);
    std::fs::write(go_on, "").unwrap();
    browser.sees_row(&session, |row| row.session.state == SessionState::Idle).await;
}

#[tokio::test]
async fn looking_at_a_session_in_one_browser_is_known_in_all_and_after_a_restart() {
    let answers = script().on_any_prompt().say("Done.").stop("end_turn");
    let (app, mut desktop, session) = App::with_session(answers).await;
    let turn = desktop.says_to(&session, "go").await;
    desktop.sees_end(&turn).await;
    desktop.sees_state(&session, "idle").await;
    let mut phone = app.browser().await;
    assert_eq!(phone.follows_now().await.len(), 1);

    let app = app.restart().await;
    let mut phone = app.browser().await;
    let rows = phone.follows_now().await;
    assert!(rows.iter().any(|row| row.session.id == session && row.session.unread));
    let mut desktop = app.browser().await;
    desktop.looks_at(&session).await;
    phone.sees_told("session:looked").await;
    phone.sees_gone(&session).await;

    let app = app.restart().await;
    assert!(app.browser().await.follows_now().await.is_empty());
}

#[tokio::test]
async fn a_stopped_session_says_why_and_keeps_the_message_to_send_again() {
    let app = Launch::new()
        .agent(
            script()
                .on_prompt("break")
                .fail(-32000, "It broke.")
                .on_prompt("work")
                .say("Working.")
                .wait_for_cancel(),
        )
        .start()
        .await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let broken = browser.creates_session(&project, "scripted").await;
    let cut_off = browser.creates_session(&project, "scripted").await;
    let turn = browser.says_to(&broken, "break").await;
    browser.sees_end(&turn).await;
    browser.says_to(&cut_off, "work").await;
    browser.sees_text(&cut_off, "Working.").await;

    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    let rows = browser.follows_now().await;
    let row = |id: &SessionId| rows.iter().find(|row| row.session.id == *id).unwrap();
    assert_eq!(row(&broken).session.state, SessionState::Failed);
    assert!(row(&broken).line.as_deref().unwrap().contains("It broke."));
    assert_eq!(row(&broken).prompt.as_deref(), Some("break"));
    assert_eq!(row(&cut_off).session.state, SessionState::Interrupted);
    assert_eq!(row(&cut_off).prompt.as_deref(), Some("work"));

    let archived = ClientMessage::SessionArchive { session_id: broken.clone() };
    browser.ask(archived).await;
    browser.sees_gone(&broken).await;
}

#[tokio::test]
async fn a_browser_that_left_now_gets_no_more_rows() {
    let answers = script().on_any_prompt().say("Done.").stop("end_turn");
    let (app, mut desktop, session) = App::with_session(answers).await;
    let mut phone = app.browser().await;
    phone.follows_now().await;
    desktop.follows_now().await;
    phone.ask(ClientMessage::NowLeave {}).await;
    desktop.says_to(&session, "go").await;
    desktop.sees_row(&session, |row| row.session.state == SessionState::Idle).await;
    phone.sees_state(&session, "idle").await;
    // Only the answer to its own request.
    let summaries = phone.everything_seen().filter(|frame| frame["type"] == "now:summary").count();
    assert_eq!(summaries, 1);
}

#[tokio::test]
async fn changed_lines_are_counted_after_a_turn_and_again_after_landing() {
    let agent = script().on_any_prompt().write_file_as("w", "made.txt", "made\n").say("Done.");
    let app = Launch::new().agent(agent).start().await;
    let directory = repository(&app);
    let mut browser = app.browser().await;
    let project = browser.adds_project(directory.to_str().unwrap()).await;
    let (session, _) = worktree(&mut browser, &project, "fix").await;
    let mut phone = app.browser().await;
    phone.follows_now().await;
    let turn = browser.says_to(&session, "make it").await;
    browser.sees_end(&turn).await;
    let made = Some(ChangeCounts { files: 1, added: 1, removed: 0 });
    phone.sees_row(&session, |row| row.session.counts == made).await;

    let land = ChangeAct::Land { how: LandHow::Squash, message: Some("Make it".to_owned()) };
    browser.acts(&session, &land).await;
    phone.sees_row(&session, |row| row.session.counts == Some(ChangeCounts::default())).await;
}
