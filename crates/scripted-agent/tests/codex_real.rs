//! Stories with the real codex-acp, answered by a fake model on loopback.
//!
//! `LIMINAL_TEST_CODEX_ACP` names the program; `scripts/test` installs and names the pinned one.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, reason = "the harness is shared with stories that need more of it")]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/real.rs"]
mod real_agent;
#[path = "acp/support.rs"]
mod support;

use liminal_agents::{AgentPrompt, Attached, CliProvider, ForkPlace, History};
use liminal_contract::{Asks, OptionValue, Steers, ToolKind};
use liminal_fake_model::FakeModel;
use liminal_scripted_agent::script;
use liminal_stream::{SessionFact, SourcePart};
use real_agent::{picture, program};
use support::App;

/// The real program with its own home directory, or `None` if the stories with real agents are switched off.
fn real() -> Option<(App, FakeModel)> {
    let program = program("LIMINAL_TEST_CODEX_ACP")?;
    let model = FakeModel::start().unwrap();
    let app = App::with(script(), |setup| {
        let home = setup.agent.launch.cwd.join("home");
        std::fs::create_dir_all(home.join(".codex")).unwrap();
        let config = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"fake\"\n\
             base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"FAKE_API_KEY\"\n\
             request_max_retries = 1\nstream_max_retries = 1\n",
            model.url()
        );
        std::fs::write(home.join(".codex/config.toml"), config).unwrap();
        let launch = &mut setup.agent.launch;
        launch.program = program;
        launch.args = Vec::new();
        launch.env_remove = ["CODEX_HOME", "OPENAI_API_KEY"].map(Into::into).to_vec();
        launch.env = vec![
            ("HOME".into(), home.into()),
            ("FAKE_API_KEY".into(), "test-key".into()),
            ("NO_BROWSER".into(), "1".into()),
        ];
        // Its default mode decides on its own; this one asks.
        setup.agent.ask_mode = Some("read-only".to_owned());
        setup.timing.longest_start = std::time::Duration::from_secs(120);
    });
    Some((app, model))
}

/// A command that needs permission, because it leaves the sandbox.
const ASKED_FOR: &str = concat!(
    r#"FAKE:TOOL exec_command {"cmd":"touch made-by-tool.txt && ls","#,
    r#""sandbox_permissions":"require_escalated","justification":"test"}"#,
);

#[tokio::test]
async fn codex_is_put_into_the_mode_that_asks_and_answers_in_turns() {
    let Some((app, _model)) = real() else { return };
    let mut chat = app.create().await;
    let end = chat.asks("FAKE:TEXT Good morning.").await;
    assert_eq!((end.how.as_str(), end.words.as_str()), ("completed", "end_turn"));
    assert_eq!(chat.asks("FAKE:THINK").await.how, "completed");
    let said = chat.transcript();
    assert!(said.contains("Agent: Good morning."), "{said}");
    assert!(said.contains("Thinks: ") && said.contains("First I consider"), "{said}");
    assert!(said.contains("Agent: Here is my considered answer."), "{said}");
    let mode = chat.facts.iter().rev().find_map(|fact| match fact {
        SessionFact::Options(options) => options.first().map(|mode| mode.value.to_string()),
        _ => None,
    });
    assert_eq!(mode.as_deref(), Some("read-only"));
    let asks = chat.facts.iter().rev().find_map(|fact| match fact {
        SessionFact::Asks(asks) => Some(*asks),
        _ => None,
    });
    assert_eq!(asks, Some(Asks::Always));
    app.stop().await;
}

#[tokio::test]
async fn codex_asks_and_does_what_it_was_told() {
    let Some((app, _model)) = real() else { return };
    let mut chat = app.create().await;
    chat.send(ASKED_FOR).await;
    chat.sees("May I ").await;
    assert!(!app.file("made-by-tool.txt").exists());
    chat.answer("t1:ask:0", "allow_once").await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "completed");
    assert!(app.file("made-by-tool.txt").exists());
    let said = chat.transcript();
    assert!(said.contains("-> allow_once by User"), "{said}");
    assert!(said.contains("Execute touch made-by-tool.txt && ls: made-by-tool.txt"), "{said}");

    std::fs::remove_file(app.file("made-by-tool.txt")).unwrap();
    chat.send(ASKED_FOR).await;
    chat.until("the second question", |chat| {
        chat.items.iter().any(|item| item.item_id.as_str() == "t2:ask:0")
    })
    .await;
    chat.answer("t2:ask:0", "cancel").await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    assert!(!app.file("made-by-tool.txt").exists());
    assert!(chat.transcript().contains("failed refused"), "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn a_plan_of_codex_is_refused_then_approved_and_carried_out() {
    let Some((app, _model)) = real() else { return };
    let mut chat = app.create().await;
    let mode = |facts: &[SessionFact]| {
        facts.iter().rev().find_map(|fact| match fact {
            SessionFact::Options(options) => options
                .iter()
                .find(|option| option.id == "collaboration_mode")
                .map(|option| option.value.to_string()),
            _ => None,
        })
    };
    chat.until("its modes", |chat| mode(&chat.facts).is_some()).await;
    let plan = OptionValue::Choice("plan".to_owned());
    chat.provider.set_option(&chat.id, "collaboration_mode", plan).await.unwrap();
    chat.until("plan mode", |chat| mode(&chat.facts).as_deref() == Some("plan")).await;

    let turn = chat.send("FAKE:PLAN Build the first version").await;
    let (item, ask) = chat.asked().await;
    assert_eq!(ask.tool_kind, ToolKind::SwitchMode);
    let names: Vec<_> = ask.options.iter().map(|option| option.option_id.as_str()).collect();
    assert_eq!(names, ["implement_plan", "revise_plan"]);
    let [SourcePart::Text { text }] = &ask.parts[..] else { panic!("{:?}", ask.parts) };
    assert_eq!(text.trim(), "# Plan\n\n1. Build the first version");
    assert!(
        !chat.transcript().contains("Agent: # Plan"),
        "only on its card: {}",
        chat.transcript()
    );
    chat.answer(&item, "revise_plan").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert_eq!(mode(&chat.facts).as_deref(), Some("plan"));

    let turn = chat.send("FAKE:PLAN Build the second version").await;
    let (item, _) = chat.asked().await;
    chat.answer(&item, "implement_plan").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert_eq!(mode(&chat.facts).as_deref(), Some("default"), "it leaves plan mode by itself");
    assert!(chat.transcript().contains("Implement the approved plan"), "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn codex_forks_whole_sessions() {
    let Some((app, model)) = real() else { return };
    let mut chat = app.create().await;
    assert_eq!(chat.asks("FAKE:TEXT Noted apple.").await.how, "completed");
    let fork = app.provider.fork_at(&chat.id, chat.id.local(), ForkPlace::End).await;
    let mut forked = app.create_with(fork).await.unwrap();
    assert_ne!(forked.id, chat.id);
    assert_eq!(chat.asks("FAKE:TEXT Noted pear.").await.how, "completed");
    assert_eq!(forked.asks("FAKE:TEXT Noted plum.").await.how, "completed");
    let asked = model.requests().last().unwrap().body["input"].to_string();
    assert!(asked.contains("Noted apple.") && !asked.contains("Noted pear."), "{asked}");
    app.stop().await;
}

#[tokio::test]
async fn codex_stops_when_told_and_goes_on_afterwards() {
    let Some((app, _model)) = real() else { return };
    let mut chat = app.create().await;
    chat.send("FAKE:STALL one two ").await;
    chat.sees("one two").await;
    assert_eq!(chat.cancel().await, Ok(()));
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    assert_eq!(chat.asks("FAKE:TEXT Still here.").await.how, "completed");
    app.stop().await;
}

#[tokio::test]
async fn an_outage_of_codexs_model_is_a_failed_turn() {
    let Some((app, _model)) = real() else { return };
    let mut chat = app.create().await;
    let end = chat.asks("FAKE:ERR 400").await;
    assert_eq!((end.how.as_str(), end.words.as_str()), ("AgentProtocolError", "fake error 400"));
    assert_eq!(chat.asks("FAKE:TEXT Better now.").await.how, "completed");
    app.stop().await;
}

#[tokio::test]
async fn a_session_of_codex_is_loaded_with_its_history_and_resumed_without() {
    let Some((app, _model)) = real() else { return };
    let mut chat = app.create().await;
    chat.asks("FAKE:TEXT I remember apple.").await;
    let agent_ref = chat.id.local().to_owned();
    app.provider.kill_session(&chat.id).await.unwrap();

    let mut loaded = app.load(&agent_ref, History::All).await.unwrap();
    loaded.until("the history", |chat| chat.history_told).await;
    let told = loaded.transcript();
    assert!(
        told.starts_with("User: FAKE:TEXT I remember apple.\nAgent: I remember apple."),
        "{told}"
    );
    assert_eq!(loaded.asks("FAKE:TEXT Yes.").await.how, "completed");

    app.provider.reconnect(None).await.unwrap();
    assert_eq!(loaded.asks("FAKE:TEXT After the restart.").await.how, "completed");
    assert!(
        loaded.transcript().ends_with("Agent: After the restart.\n"),
        "{}",
        loaded.transcript()
    );
    app.stop().await;
}

#[tokio::test]
async fn a_picture_lines_and_a_mentioned_picture_reach_the_model() {
    let Some((app, model)) = real() else { return };
    let mut chat = app.create().await;
    let mentioned = Attached::File {
        path: "shown.png".into(),
        uri: "file:///project/shown.png".into(),
        is_mentioned: true,
        picture: Some(picture("shown.png")),
    };
    let lines = Attached::Text {
        name: "src/main.rs, lines 2 to 3".into(),
        uri: "file:///project/src/main.rs#L2-3".into(),
        text: "frozen lines".into(),
    };
    let text = "FAKE:TEXT I see.\n@shown.png".into();
    let attached = vec![Attached::Picture(picture("dot.png")), lines, mentioned];
    chat.send_prompt(&AgentPrompt { text, attached }).await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "completed");
    assert!(chat.facts.contains(&SessionFact::TakesPictures(true)));
    let asked = model.requests().last().unwrap().body["input"].to_string();
    assert_eq!(asked.matches("\"type\":\"input_image\"").count(), 2, "{asked}");
    for part in ["frozen lines", "[@shown.png](file:///project/shown.png)"] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
    app.stop().await;
}

#[tokio::test]
async fn codex_takes_a_message_in_the_middle_of_its_words() {
    let Some((app, _model)) = real() else { return };
    let mut chat = app.create().await;
    chat.send("FAKE:LONG 200 20").await;
    chat.sees("word3 ").await;
    chat.provider.steer(&chat.id, "m1", &"FAKE:TEXT Steered.".into()).await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "completed");
    let said = chat.transcript();
    let at = |text: &str| said.find(text).unwrap_or_else(|| panic!("no {text}: {said}"));
    assert!(at("word3 ") < at("User: FAKE:TEXT Steered."), "{said}");
    assert!(at("User: FAKE:TEXT Steered.") < at("Agent: Steered."), "{said}");
    assert!(!said.contains("word199"), "{said}");
    assert!(chat.facts.contains(&SessionFact::Steers(Steers::AtOnce)), "{:?}", chat.facts);
    app.stop().await;
}
