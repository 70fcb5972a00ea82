//! Creating and resuming sessions.

use liminal_agents::{CliProvider, History, ProviderError};
use liminal_contract::{Asks, AuthMethod};
use liminal_scripted_agent::{Choice, Replay, ScriptBuilder, SessionMode, Steps, script};
use liminal_stream::SessionFact;
use serde_json::{Value, json};

use super::support::App;

fn said(kind: &str, id: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "messageId": id, "content": {"type": "text", "text": text}})
}

fn with_history(load: Replay, resume: bool) -> ScriptBuilder {
    script()
        .about(|about| (about.load, about.resume) = (load, resume))
        .knows_session(
            "old",
            vec![
                said("user_message_chunk", "u1", "Remember the word apple"),
                said("agent_message_chunk", "a1", "I will."),
                json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "kind": "execute",
                       "status": "completed"}),
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
                       "content": [{"type": "content", "content": {"type": "text", "text": "a.txt"}}]}),
                said("user_message_chunk", "u2", "Thanks"),
                said("agent_message_chunk", "a2", "Welcome."),
            ],
        )
        .on_any_prompt()
        .say("Apple.")
}

const HISTORY: &str = "User: Remember the word apple\nAgent: I will.\nExecute ls: a.txt\n\
                       User: Thanks\nAgent: Welcome.\n";

#[tokio::test]
async fn a_loaded_session_tells_its_history_in_turns_of_its_own() {
    for load in [Replay::BeforeAnswer, Replay::AfterAnswer] {
        let app = App::new(with_history(load, true));
        let mut chat = app.load("old", History::All).await.unwrap();
        // The first message comes immediately: it must not be mixed with the history that is still arriving.
        chat.send("What was the word?").await;
        assert_eq!(chat.turn_ends().await.turn, "old.u1", "{load:?}");
        assert_eq!(chat.turn_ends().await.turn, "old.u2", "{load:?}");
        assert_eq!(chat.turn_ends().await.turn, "t1", "{load:?}");
        assert_eq!(chat.transcript(), format!("{HISTORY}Agent: Apple.\n"), "{load:?}");
        assert!(chat.history_told);

        // Reading it again gives the same.
        let ids: Vec<_> = chat.items.iter().map(|item| item.item_id.clone()).take(5).collect();
        app.provider.kill_session(&chat.id).await.unwrap();
        let mut again = app.load("old", History::All).await.unwrap();
        again.until("the history", |chat| chat.history_told).await;
        let again: Vec<_> = again.items.iter().map(|item| item.item_id.clone()).take(5).collect();
        assert_eq!(again, ids, "{load:?}");
        app.stop().await;
    }
}

#[tokio::test]
async fn a_history_the_journal_has_is_not_told_again() {
    for (load, resume) in
        [(Replay::BeforeAnswer, true), (Replay::BeforeAnswer, false), (Replay::AfterAnswer, false)]
    {
        let app = App::new(with_history(load, resume));
        let mut chat = app.load("old", History::Known).await.unwrap();
        assert_eq!(chat.asks("What was the word?").await.turn, "t1");
        assert_eq!(chat.transcript(), "Agent: Apple.\n", "{load:?} {resume}");
        app.stop().await;
    }
}

#[tokio::test]
async fn a_session_nobody_knows_is_not_found() {
    let app = App::new(with_history(Replay::BeforeAnswer, true));
    for history in [History::All, History::Known] {
        let error = app.load("nope", history).await.err().unwrap();
        assert_eq!(error, ProviderError::SessionUnknown { words: "Session nope not found".into() });
    }
    app.stop().await;

    let app = App::new(with_history(Replay::No, false));
    let error = app.load("old", History::All).await.err().unwrap();
    assert!(error.to_string().contains("Start a new one."), "{error}");
    app.stop().await;
}

#[tokio::test]
async fn a_refusal_to_make_a_session_is_told_in_the_agents_words() {
    let app = App::new(script().refuse_new(-32603, "Quota exceeded"));
    let error = app.try_create().await.err().unwrap();
    assert_eq!(error.to_string(), "Could not create session. Quota exceeded");
    app.stop().await;
}

#[tokio::test]
async fn a_missing_login_is_told_with_the_methods_and_the_command() {
    let app = App::new(
        script()
            .about(|about| {
                about.auth_methods = vec![Choice {
                    id: "web".into(),
                    name: "Browser".into(),
                    kind: None,
                    description: Some("Opens a page".into()),
                }];
            })
            .refuse_new(-32000, "Run `scripted auth` first"),
    );
    let error = app.try_create().await.err().unwrap();
    assert_eq!(
        error,
        ProviderError::AuthRequired {
            name: "Scripted".into(),
            words: "Run `scripted auth` first".into(),
            command: Some("scripted login".into()),
            methods: vec![AuthMethod {
                id: "web".into(),
                name: "Browser".into(),
                description: Some("Opens a page".into()),
                command: None,
            }],
        }
    );
    let hint = error.details().unwrap().hint;
    assert_eq!(hint.as_deref(), Some("Run `scripted auth` first"));
    app.stop().await;
}

#[tokio::test]
async fn a_login_that_needs_nothing_from_the_user_is_done_for_them() {
    for (name, works) in [("Local model", true), ("Log in with a browser", false)] {
        let app = App::new(
            script()
                .about(|about| {
                    about.log_in_first = true;
                    let (id, name) = ("way".into(), name.into());
                    about.auth_methods = vec![Choice { id, name, kind: None, description: None }];
                })
                .on_any_prompt()
                .say("Hello."),
        );
        match app.try_create().await {
            Ok(mut chat) => assert_eq!(chat.asks("hi").await.how, "completed"),
            Err(error) => assert!(matches!(error, ProviderError::AuthRequired { .. }) && !works),
        }
        app.stop().await;
    }
}

fn modes(ids: &[&str]) -> ScriptBuilder {
    let modes: Vec<_> =
        ids.iter().map(|id| SessionMode { id: (*id).into(), name: (*id).into() }).collect();
    script().about(move |about| about.modes = modes).on_any_prompt().say("ok")
}

#[tokio::test]
async fn an_agent_that_decides_by_itself_is_put_into_the_mode_that_asks() {
    let asks =
        |setup: &mut super::support::Setup| setup.agent.ask_mode = Some("workspace-write".into());
    for (ids, expected) in [
        (&["agent", "workspace-write"][..], Some("workspace-write")),
        (&["workspace-write", "agent"][..], Some("workspace-write")),
        (&["agent", "yolo"][..], None),
        (&[][..], None),
    ] {
        let app = App::with(modes(ids), asks);
        let mut chat = app.create().await;
        chat.asks("hi").await;
        let last = chat.facts.iter().rev().find_map(|fact| match fact {
            SessionFact::Options(options) => options.first().map(|mode| mode.value.to_string()),
            _ => None,
        });
        let decides = chat.facts.iter().rev().find_map(|fact| match fact {
            SessionFact::Asks(asks) => Some(*asks == Asks::AgentDecides),
            _ => None,
        });
        assert_eq!(decides.unwrap_or_default(), expected.is_none(), "{ids:?}");
        if expected.is_some() {
            assert_eq!(last.as_deref(), expected, "{ids:?}");
        }
        app.stop().await;
    }
}

#[tokio::test]
async fn ten_sessions_made_at_the_same_instant_are_ten() {
    let mut app = App::new(script().on_any_prompt().say_prompt());
    let chats = tokio::join!(
        app.create(),
        app.create(),
        app.create(),
        app.create(),
        app.create(),
        app.create(),
        app.create(),
        app.create(),
        app.create(),
        app.create(),
    );
    let chats: [super::chat::Chat; 10] = chats.into();
    for (n, mut chat) in chats.into_iter().enumerate() {
        let text = format!("number {n}");
        assert_eq!(chat.asks(&text).await.how, "completed");
        assert_eq!(chat.transcript(), format!("Agent: {text}\n"));
    }
    assert_eq!(app.statuses(), ["starting", "connected"]);
    app.stop().await;
}
