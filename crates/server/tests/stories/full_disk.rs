//! A full disk.

use liminal_contract::ServerMessage;
use liminal_scripted_agent::{Steps, script};
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use serde_json::Value;

use crate::support::Launch;

#[tokio::test]
async fn a_full_disk_is_told_to_everyone_nothing_is_shown_and_work_resumes_when_there_is_room() {
    let agent = script().on_any_prompt().say("You said: ").say_prompt().stop("end_turn");
    let app = Launch::new().agent(agent).told_of_full_disks().start().await;
    let mut browser = app.browser().await;
    let mut other = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    let session = browser.creates_session(&project, "scripted").await;
    browser.opens(&session).await;
    other.opens(&session).await;
    let turn = browser.says_to(&session, "one").await;
    browser.sees_end(&turn).await;
    other.sees_end(&turn).await;

    let room = getrlimit(Resource::Fsize);
    let length = std::fs::metadata(app.file("journal.db-wal")).unwrap().len();
    let full = Rlimit { current: Some(length), maximum: room.maximum };
    prlimit(Some(app.pid()), Resource::Fsize, full).unwrap();
    let words = "two ".repeat(10_000);
    let request = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    browser.sends_as(request, &session, &words).await;
    for page in [&mut browser, &mut other] {
        let told = page.sees_told("error").await;
        let ServerMessage::Error { code, message, .. } = told else { panic!("{told:?}") };
        assert_eq!(code, liminal_contract::ErrorCode::StoreFull);
        assert!(message.contains("Free some disk space"), "{message}");
    }
    // As after a reload: the agent has nothing yet, and neither has the disk.
    other.sends_as(request, &session, &words).await;
    assert_eq!(other.opens(&session).await.texts(), ["one", "You said: one"]);
    let mut late = app.browser().await;
    late.sees_told("error").await;
    assert_eq!(late.opens(&session).await.texts(), ["one", "You said: one"]);
    let is_shown = |frame: &Value| {
        let text = frame.to_string();
        text.contains("two two") || frame["type"] == "session:accepted" && text.contains(request)
    };
    assert!(
        !browser.everything_seen().chain(other.everything_seen()).any(is_shown),
        "nothing that is not on disk"
    );

    prlimit(Some(app.pid()), Resource::Fsize, room).unwrap();
    let accepted = browser.sees_reply(request).await;
    let ServerMessage::SessionAccepted { turn_id, .. } = accepted else { panic!("{accepted:?}") };
    let again = other.sees_reply(request).await;
    assert!(
        matches!(&again, ServerMessage::SessionAccepted { turn_id: same, .. } if *same == turn_id),
        "{again:?}"
    );
    browser.sees_end(&turn_id).await;
    let app = app.restart().await;
    let texts = app.browser().await.opens(&session).await.texts();
    assert_eq!((texts.len(), &texts[2]), (4, &words));
}
