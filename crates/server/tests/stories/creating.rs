//! A new session and its first message are one request, which a browser repeats until it is answered.

use liminal_contract::{Project, ServerMessage, SessionId};
use liminal_scripted_agent::{Steps, script};
use serde_json::{Value, json};

use crate::support::{Browser, Launch, in_time};

const REQUEST: &str = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

fn create(project: &Project) -> Value {
    json!({
        "type": "session:create", "requestId": REQUEST, "projectId": project.id,
        "cliType": "scripted", "content": "go",
    })
}

impl Browser {
    /// Asks for the session, and closes the page while the agent starts.
    async fn asks_and_leaves(mut self, project: &Project) {
        self.says(&create(project).to_string()).await;
        self.sees_told("agent:status").await;
    }

    /// The first turn is on disk: what is told of a session's state may be ahead of it.
    async fn sees_it_done(&mut self, session: &SessionId) {
        let done = async { while self.opens(session).await.texts() != ["go", "Gone."] {} };
        in_time(done).await.unwrap();
    }

    async fn sees_created(&mut self) -> SessionId {
        match self.sees_reply(REQUEST).await {
            ServerMessage::SessionCreated { session_id, .. } => session_id,
            other => panic!("not created: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_agent_gets_the_first_message_although_the_page_was_closed_while_it_started() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let agent = script().wait_for_file(go.to_string_lossy()).on_any_prompt().say("Gone.");
    let app = launch.agent(agent).start().await;
    let mut left = app.browser().await;
    let mut other = app.browser().await;
    let project = left.adds_project(&app.directory("project")).await;
    left.asks_and_leaves(&project).await;
    std::fs::write(&go, "").unwrap();
    let created = other.sees_told("session:created").await;
    let ServerMessage::SessionCreated { session_id, .. } = created else { panic!("{created:?}") };
    other.sees_it_done(&session_id).await;
}

#[tokio::test]
async fn a_repeated_request_gets_the_session_that_it_created_and_its_message_is_sent_once() {
    let launch = Launch::new();
    let go = launch.home().join("go");
    let agent = script().wait_for_file(go.to_string_lossy()).on_any_prompt().say("Gone.");
    let app = launch.agent(agent).start().await;
    let mut browser = app.browser().await;
    let project = browser.adds_project(&app.directory("project")).await;
    browser.asks_and_leaves(&project).await;

    let mut browser = app.browser().await;
    browser.says(&create(&project).to_string()).await;
    std::fs::write(&go, "").unwrap();
    let session = browser.sees_created().await;
    let send = json!({
        "type": "session:send", "requestId": REQUEST, "sessionId": session, "content": "go",
        "whenBusy": "queue",
    });
    browser.says(&send.to_string()).await;
    let accepted = browser.sees_reply(REQUEST).await;
    let ServerMessage::SessionAccepted { turn_id, .. } = accepted else { panic!("{accepted:?}") };
    browser.sees_it_done(&session).await;

    let app = app.crash_and_restart().await;
    let mut browser = app.browser().await;
    browser.says(&create(&project).to_string()).await;
    assert_eq!(browser.sees_created().await, session);
    browser.says(&send.to_string()).await;
    let accepted = browser.sees_reply(REQUEST).await;
    assert_eq!(accepted, ServerMessage::SessionAccepted { session_id: session.clone(), turn_id });
    assert_eq!(browser.opens(&session).await.texts(), ["go", "Gone."]);
    assert_eq!(browser.sessions(&project).await.len(), 1);
}
