//! Stories with the real Claude Code, answered by a fake model on loopback.
//!
//! `LIMINAL_TEST_CLAUDE` names the program; `scripts/test` installs and names the pinned one.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/claude.rs"]
mod claude;
#[path = "support/real.rs"]
mod real_agent;
#[path = "support/real_claude.rs"]
mod real_claude;

use chat::Chat;
use claude::{Pace, Place};
use liminal_agents::{AgentPrompt, Attached, CliProvider, History, ProviderError};
use liminal_contract::{
    AgentStatus, Answer, ItemId, ItemStatus, OptionValue, OutcomeBy, TurnEventKind, TurnId, Usage,
};
use liminal_stream::{HistoryMark, Interlude, SessionFact, Source, SourcePart};
use real_agent::picture;
use real_claude::{real, real_in};
use serde_json::json;

fn usage(chat: &Chat) -> Vec<Usage> {
    chat.turns
        .iter()
        .filter_map(|(_, kind)| match kind {
            TurnEventKind::TurnComplete { usage, .. } => usage.clone(),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn two_turns_in_one_process_with_their_model_and_their_own_cost() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    assert!(chat.is_alive());

    assert_eq!(chat.asks("FAKE:TEXT Good morning.").await.how, "completed");
    assert_eq!(chat.asks("FAKE:TEXT Good night.").await.how, "completed");

    assert_eq!(chat.texts(), ["Good morning.", "Good night."]);
    assert!(chat.turns.iter().any(|(_, kind)| matches!(kind,
        TurnEventKind::TurnStarted { model_id, .. } if model_id.starts_with("claude-"))));
    let costs: Vec<f64> = usage(&chat).iter().filter_map(|usage| usage.cost_usd).collect();
    assert_eq!(costs.len(), 2);
    assert!((costs[0] - costs[1]).abs() < 1e-9, "each turn costs the same: {costs:?}");
    assert_eq!(*real.statuses.lock().unwrap(), [AgentStatus::Starting, AgentStatus::Connected]);
    real.provider.kill_session(&chat.id).await.unwrap();
    assert!(!chat.is_alive());
}

#[tokio::test]
async fn thoughts_come_before_the_answer() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    assert_eq!(chat.asks("FAKE:THINK").await.how, "completed");
    let sources: Vec<&Source> = chat.items.iter().map(|item| &item.source).collect();
    assert!(
        matches!(&sources[..], [Source::Thinking { content, .. }, Source::Message { content: answer, .. }]
            if content.starts_with("First I consider") && answer == "Here is my considered answer."),
        "{sources:?}"
    );
    real.provider.shutdown().await;
}

#[tokio::test]
async fn a_command_runs_when_it_is_allowed_and_does_not_when_it_is_refused() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();

    let turn = chat.send("FAKE:BASH echo hello > allowed.txt").await;
    let (item, ask) = chat.asked().await;
    assert_eq!(ask.title, "echo hello > allowed.txt");
    assert!(!real.place.exists("allowed.txt"));
    chat.answer(&item, "allow").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert!(real.place.exists("allowed.txt"));
    assert!(matches!(chat.answer(&item, "allow").await, Err(ProviderError::PermissionClosed)));

    let turn = chat.send("FAKE:BASH echo hello > refused.txt").await;
    let (item, _) = chat.asked().await;
    chat.answer(&item, "deny").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert!(!real.place.exists("refused.txt"));
    let calls = chat.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].1.refused, calls[1].1.refused), (None, Some(true)));

    // A permission for the session is not asked for again, and nothing is written into the project.
    let turn = chat.send("FAKE:BASH touch lasting.txt").await;
    let (item, _) = chat.asked().await;
    chat.answer(&item, "allow-session").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert_eq!(chat.asks("FAKE:BASH touch lasting.txt").await.how, "completed");
    assert!(!real.place.exists(".claude"));
    real.provider.shutdown().await;
}

#[tokio::test]
async fn an_edit_is_shown_as_the_change_it_made() {
    let Some(real) = real(Pace::default(), |place| place.write("notes.txt", "alpha\n")) else {
        return;
    };
    let path = real.place.project().join("notes.txt");
    let mut chat = real.create().await.unwrap();
    assert_eq!(chat.asks(&format!("FAKE:READ {}", path.display())).await.how, "completed");
    let turn = chat.send(&format!("FAKE:EDIT {}", path.display())).await;
    let (item, ask) = chat.asked().await;
    assert_eq!(ask.title, "Edit notes.txt");
    // Arguments that the change does not show, such as `replace_all`, are below it.
    assert!(
        matches!(&ask.parts[..], [SourcePart::Diff { old: Some(old), new: Some(new), .. }, SourcePart::Fields { .. }]
        if old == "alpha" && new == "beta"),
        "{:?}",
        ask.parts
    );
    chat.answer(&item, "allow").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "beta\n");
    let (status, edit) = chat.calls().pop().unwrap();
    assert_eq!((status, edit.title.as_str()), (ItemStatus::Complete, "Edit notes.txt"));
    assert!(
        matches!(&edit.parts[..], [SourcePart::Hunks { hunks, .. }]
        if hunks[0].lines == ["-alpha", "+beta"]),
        "{:?}",
        edit.parts
    );
    real.provider.shutdown().await;
}

#[tokio::test]
async fn a_question_is_answered_with_the_form() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    let turn = chat.send("FAKE:ASK").await;
    let (item, ask) = chat.asked().await;
    assert_eq!(ask.questions.unwrap()[0].question, "Which colour?");
    chat.answer_with(&item, "Which colour?", "Blue").await;
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    chat.sees("\"Which colour?\"=\"Blue\"").await;
    real.provider.shutdown().await;
}

#[tokio::test]
async fn stopping_keeps_the_words_and_the_session_goes_on() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    chat.cancel().await.unwrap();

    let turn = chat.send("FAKE:STALL one two").await;
    chat.sees("one two").await;
    chat.cancel().await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "cancelled");
    assert!(matches!(chat.items[0].status, ItemStatus::Create | ItemStatus::Update));

    // Also before the model has answered, and while a permission is open.
    let turn = chat.send("FAKE:HANG").await;
    chat.cancel().await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "cancelled");
    let turn = chat.send("FAKE:BASH echo > never.txt").await;
    let (item, _) = chat.asked().await;
    chat.cancel().await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "cancelled");
    assert!(matches!(chat.answer(&item, "allow").await, Err(ProviderError::PermissionClosed)));
    assert!(!real.place.exists("never.txt"));

    assert_eq!(chat.asks("FAKE:TEXT Still here.").await.how, "completed");
    real.provider.shutdown().await;
}

#[tokio::test]
async fn a_failure_of_the_model_is_the_turns_error_and_the_next_turn_works() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    let end = chat.asks("FAKE:ERR 400").await;
    let (code, words) = (end.how, end.words);
    assert_eq!(code, "AgentProtocolError");
    assert!(words.contains("400"), "{words}");
    let code = chat.asks("FAKE:ERR 401").await.how;
    assert_eq!(code, "AuthRequired");
    let words = chat.asks("FAKE:ERR 529").await.words;
    assert!(words.contains("529"), "{words}");
    assert!(chat.notices().iter().any(|text| text == "The model did not answer."));
    assert_eq!(chat.asks("FAKE:TEXT Fine again.").await.how, "completed");
    assert_eq!(chat.texts(), ["Fine again."]);
    real.provider.shutdown().await;
}

#[tokio::test]
async fn nobody_logged_in_is_said_with_what_to_type() {
    let Some(real) = real_in(Place::new(), Pace::default(), &[("ANTHROPIC_API_KEY", "")]) else {
        return;
    };
    let error = real.create().await.err().unwrap();
    assert!(
        matches!(&error, ProviderError::AuthRequired { command: Some(command), .. } if command == "claude auth login"),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_idle_process_is_stopped_and_the_next_message_resumes() {
    let pace = Pace { idle: std::time::Duration::from_millis(300), ..Pace::default() };
    let Some(real) = real(pace, |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    assert_eq!(chat.asks("FAKE:TEXT Before.").await.how, "completed");
    real.status_is(AgentStatus::Idle).await;
    assert!(!chat.is_alive());
    assert_eq!(chat.asks("FAKE:TEXT After.").await.how, "completed");
    // The model got the earlier messages.
    let asked = real.model.requests().last().unwrap().body["messages"].to_string();
    assert!(asked.contains("Before."), "{asked}");
    let costs: Vec<f64> = usage(&chat).iter().filter_map(|usage| usage.cost_usd).collect();
    assert!(
        (costs[0] - costs[1]).abs() < 1e-9,
        "the cost is the turn's own after resuming: {costs:?}"
    );
    real.provider.shutdown().await;
}

#[tokio::test]
async fn history_is_read_from_the_file_and_what_a_terminal_added_is_appended() {
    let Some(real) = real(Pace::default(), |place| place.write("notes.txt", "alpha\n")) else {
        return;
    };
    let path = real.place.project().join("notes.txt");
    let mut live = real.create().await.unwrap();
    assert_eq!(live.asks("FAKE:THINK").await.how, "completed");
    assert_eq!(live.asks(&format!("FAKE:READ {}", path.display())).await.how, "completed");
    assert_eq!(live.asks("FAKE:TWO echo one").await.how, "completed");
    real.provider.kill_session(&live.id).await.unwrap();
    let mark = live.mark().await;

    // Read from the file, it equals the live conversation, with the same ids, and no process is started.
    let mut read = real.load(live.id.local(), History::All).await.unwrap();
    read.is_told_the_history().await;
    assert!(!read.is_alive());
    let ids = |chat: &Chat| {
        let mut ids: Vec<String> = chat
            .items
            .iter()
            .filter(|item| !matches!(&item.source, Source::Permission(_)))
            .map(|item| item.item_id.as_str().to_owned())
            .collect();
        ids.sort();
        ids
    };
    let users = read.items.iter().filter(|item| item.item_id.as_str().ends_with(":user")).count();
    assert_eq!(users, 3);
    read.items.retain(|item| !item.item_id.as_str().ends_with(":user"));
    assert_eq!(ids(&read), ids(&live));
    for item in &read.items {
        let seen = live.items.iter().find(|seen| seen.item_id == item.item_id).unwrap();
        assert_eq!((&item.status, &item.source), (&seen.status, &seen.source));
    }

    // Nothing was added since.
    let mut known = real.load(live.id.local(), after(mark.clone())).await.unwrap();
    known.is_told_the_history().await;
    assert!(known.items.is_empty(), "{:?}", known.items);

    // The session continues elsewhere, as in a terminal, where we do not see how far the file went.
    let mut elsewhere = real.load(live.id.local(), History::Known).await.unwrap();
    assert_eq!(elsewhere.asks("FAKE:TEXT Said elsewhere.").await.how, "completed");
    real.provider.kill_session(&live.id).await.unwrap();
    let mut added = real.load(live.id.local(), after(mark)).await.unwrap();
    added.is_told_the_history().await;
    assert_eq!(added.texts(), ["FAKE:TEXT Said elsewhere.", "Said elsewhere."]);
    assert_eq!(added.notices().len(), 1);
    assert!(!added.history_replaced);

    // If the marked record is gone, the whole file is read.
    let other = HistoryMark { bytes: 10, last_id: uuid::Uuid::new_v4().to_string() };
    let mut all = real.load(live.id.local(), after(other)).await.unwrap();
    all.is_told_the_history().await;
    assert!(all.history_replaced);
    assert_eq!(all.items.iter().filter(|item| item.item_id.as_str().ends_with(":user")).count(), 4);
    real.provider.shutdown().await;
}

#[tokio::test]
async fn usage_is_known_and_local_commands_compaction_and_clear_are_nobodys_words() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    assert_eq!(chat.asks("FAKE:TEXT Good morning.").await.how, "completed");
    // Far more than the few tokens of the message: only the agent knows its own prompts.
    chat.knows("the context", |fact| {
        matches!(fact, SessionFact::Usage(usage)
            if usage.context_used > Some(1000) && usage.context_size >= Some(200_000))
    })
    .await;
    for command in ["/context", "/compact", "/clear"] {
        assert_eq!(chat.asks(command).await.how, "completed", "{command}");
    }
    let interludes = chat.interludes();
    let [
        Interlude::CommandOutput { command, text },
        Interlude::Compaction(compaction),
        Interlude::Cleared {},
    ] = &interludes[..]
    else {
        panic!("{interludes:#?}")
    };
    assert_eq!(command, "/context");
    assert!(text.contains("Context Usage"), "{text}");
    assert!(compaction.before.is_some() && compaction.summary.is_some(), "{compaction:?}");
    assert_eq!(chat.texts(), ["Good morning."]);

    // The session goes on under another id of the agent's, and nothing of its file has been read.
    chat.knows("the new id", |fact| matches!(fact, SessionFact::AgentRef(_))).await;
    assert_eq!(chat.asks("FAKE:TEXT Good night.").await.how, "completed");
    assert_eq!(chat.texts(), ["Good morning.", "Good night."]);
    real.provider.shutdown().await;
}

#[tokio::test]
async fn a_plan_is_refused_with_words_then_approved_with_a_mode_that_shows() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    let mode = |facts: &[SessionFact]| {
        facts.iter().rev().find_map(|fact| match fact {
            SessionFact::Options(options) => options.first().map(|mode| mode.value.to_string()),
            _ => None,
        })
    };
    chat.until("its modes", |chat| mode(&chat.facts).is_some()).await;
    let plan = OptionValue::Choice("plan".to_owned());
    chat.provider.set_option(&chat.id, "mode", plan).await.unwrap();
    chat.until("plan mode", |chat| mode(&chat.facts).as_deref() == Some("plan")).await;

    // It says where the plan belongs, and reads it from there.
    assert_eq!(chat.asks("FAKE:TEXT I will plan.").await.how, "completed");
    let told = real.model.requests().last().unwrap().body.to_string();
    let plans = real.place.home().join(".claude/plans/");
    let rest = told.split(plans.to_str().unwrap()).nth(1).expect("the place of the plan");
    let file = plans.join(rest.split_inclusive(".md").next().unwrap());
    let write = json!({"file_path": file, "content": "# Plan\n\n1. Build it\n"});
    assert_eq!(chat.asks(&format!("FAKE:TOOL Write {write}")).await.how, "completed");

    let turn = chat.send("FAKE:TOOL ExitPlanMode {}").await;
    let (item, ask) = chat.asked().await;
    assert_eq!(ask.takes_words, Some(true));
    let shown = ask.parts.first();
    assert!(
        matches!(shown, Some(SourcePart::Text { text }) if text.contains("1. Build it")),
        "{:?}",
        ask.parts
    );
    let (option_id, message) = (Some("deny".to_owned()), Some("Smaller, please.".to_owned()));
    let refused = Answer { option_id, message, ..Answer::default() };
    chat.provider.answer(&chat.id, &item, refused, OutcomeBy::User).await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    let told = real.model.requests().last().unwrap().body.to_string();
    assert!(told.contains("Smaller, please."), "{told}");
    assert_eq!(mode(&chat.facts).as_deref(), Some("plan"));

    let turn = chat.send("FAKE:TOOL ExitPlanMode {}").await;
    let (item, ask) = chat.asked().await;
    let edits = ask.options.iter().find(|option| option.name.contains("allow edits")).unwrap();
    chat.answer(&item, &edits.option_id).await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    chat.until("its own change", |chat| mode(&chat.facts).as_deref() == Some("acceptEdits")).await;
    real.provider.shutdown().await;
}

#[tokio::test]
async fn a_sub_agents_work_is_shown_under_its_call() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();
    assert_eq!(chat.asks("FAKE:TASK FAKE:TEXT Inner words.").await.how, "completed");
    chat.sees("Inner words.").await;
    let inner = chat
        .items
        .iter()
        .find(|item| {
            matches!(&item.source,
        Source::Message { content, .. } if content == "Inner words.")
        })
        .unwrap();
    let (_, call) = &chat.calls()[0];
    assert_eq!(inner.parent_call_id.as_ref(), Some(&call.call_id));
    assert_eq!(call.title, "general-purpose: Look into it");
    real.provider.shutdown().await;
}

#[tokio::test]
async fn hooks_of_a_project_run_only_when_they_were_confirmed() {
    let hook = r#"{"hooks": {"UserPromptSubmit": [
        {"hooks": [{"type": "command", "command": "echo x >> hooked.txt"}]}
    ]}}"#;
    let Some(real) = real(Pace::default(), |place| place.write(".claude/settings.json", hook))
    else {
        return;
    };
    let mut chat = real.create().await.unwrap();
    let (item, ask) = chat.asked().await;
    assert_eq!(ask.title, "Load this project's Claude settings?");
    assert_eq!(chat.asks("FAKE:TEXT one").await.how, "completed");
    assert!(!real.place.exists("hooked.txt"), "not before it was confirmed");
    chat.answer(&item, "load").await.unwrap();
    assert_eq!(chat.asks("FAKE:TEXT two").await.how, "completed");
    assert!(real.place.exists("hooked.txt"), "loaded now");
    // The next session does not ask again.
    let next = real.create().await.unwrap();
    assert!(next.items.is_empty());
    real.provider.shutdown().await;
}

/// Everything added after a mark.
fn after(mark: HistoryMark) -> History {
    History::After { mark, known: Vec::new() }
}

#[tokio::test]
async fn a_picture_lines_and_a_mentioned_file_reach_the_model() {
    let prepare = |place: &Place| place.write("notes.md", "words of the mentioned file");
    let Some(real) = real(Pace::default(), prepare) else { return };
    let mut chat = real.create().await.unwrap();
    let text = Attached::Text {
        name: "src/main.rs, lines 2 to 3".into(),
        uri: "file:///project/src/main.rs#L2-3".into(),
        text: "frozen lines with @nobody in them".into(),
    };
    let prompt = AgentPrompt {
        text: "Look at these. @notes.md".into(),
        attached: vec![Attached::Picture(picture("dot.png")), text],
    };
    let turn = chat.send_prompt(&prompt).await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert_eq!(chat.texts().len(), 1, "and no card for the user's own picture: {:?}", chat.texts());
    let asked = real.model.requests().last().unwrap().body["messages"].to_string();
    for part in ["\"type\":\"image\"", "frozen lines", "words of the mentioned file"] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
}

#[tokio::test]
async fn a_message_for_a_running_turn_is_read_after_a_tool_or_gets_its_own_turn() {
    let Some(real) = real(Pace::default(), |_| {}) else { return };
    let mut chat = real.create().await.unwrap();

    let turn = chat.send("FAKE:BASH echo hello > made.txt").await;
    let (item, _) = chat.asked().await;
    let message = chat.steer("Also think of bananas.").await;
    chat.answer(&item, "allow").await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    let taken = ItemId::steered(&turn, &message);
    let at = chat.items.iter().position(|item| item.item_id == taken).unwrap();
    let call = chat.items.iter().position(|item| matches!(item.source, Source::ToolCall(_)));
    assert!(call.unwrap() < at && at + 1 < chat.items.len(), "{:?}", chat.texts());
    assert_eq!(chat.turns.len(), 2, "one turn answers both");

    let turn = chat.send("FAKE:LONG 60 20").await;
    chat.sees("word2 ").await;
    let message = chat.steer("FAKE:TEXT In its own turn.").await;
    assert_eq!(chat.end_of(&turn).await.how, "completed");
    assert_eq!(chat.end_of(&TurnId::new(message)).await.how, "completed");
    assert_eq!(chat.texts().last().map(String::as_str), Some("In its own turn."));

    let turn = chat.send("FAKE:LONG 400 20").await;
    chat.sees("word2 ").await;
    let message = chat.steer("FAKE:TEXT Never read.").await;
    chat.cancel().await.unwrap();
    assert_eq!(chat.end_of(&turn).await.how, "cancelled");
    assert_eq!(chat.returned, [message]);
    assert_eq!(chat.asks("FAKE:TEXT Still here.").await.how, "completed");
    real.provider.shutdown().await;
}
