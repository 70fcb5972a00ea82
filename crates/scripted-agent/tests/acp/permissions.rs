//! Permissions: shown with the agent's own options, answered, cancelled, void.

use liminal_agents::{ProviderError, auto_answer};
use liminal_scripted_agent::{Ask, Choice, Step, Steps, act, answered, script};
use liminal_stream::Source;

use super::chat::Chat;
use super::support::App;

fn asking() -> liminal_scripted_agent::ScriptBuilder {
    script().on_any_prompt().command("c", "rm a").ask(
        "c",
        answered("allow", act().tool_done("c", "gone").say("Removed.")).or(act().say("Then not.")),
    )
}

async fn asked(chat: &mut Chat, item: &str) {
    chat.until("a question", |chat| chat.items.iter().any(|it| it.item_id.as_str() == item)).await;
}

#[tokio::test]
async fn a_permission_waits_for_its_answer() {
    let app = App::new(asking());
    let mut chat = app.create().await;
    chat.send("go").await;
    asked(&mut chat, "t1:ask:0").await;
    assert!(
        chat.transcript().ends_with("May I rm a? allow/always/reject…\n"),
        "{}",
        chat.transcript()
    );

    let never_offered = chat.answer("t1:ask:0", "maybe").await.unwrap_err();
    assert!(matches!(never_offered, ProviderError::AgentFailed { .. }));
    chat.answer("t1:ask:0", "allow").await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "completed");
    assert_eq!(
        chat.transcript(),
        "Execute rm a: gone\nMay I rm a? allow/always/reject -> allow by User\nAgent: Removed.\n"
    );
    assert_eq!(chat.answer("t1:ask:0", "allow").await, Err(ProviderError::PermissionClosed));
    app.stop().await;
}

#[tokio::test]
async fn a_refusal_marks_the_call_also_when_the_agent_says_no_more_of_it() {
    let app = App::new(asking());
    let mut chat = app.create().await;
    chat.send("go").await;
    asked(&mut chat, "t1:ask:0").await;
    chat.answer("t1:ask:0", "reject").await.unwrap();
    chat.turn_ends().await;
    assert_eq!(
        chat.transcript(),
        "Execute rm a failed refused: \nMay I rm a? allow/always/reject -> reject by User\nAgent: Then not.\n"
    );
    app.stop().await;
}

#[tokio::test]
async fn stopping_the_turn_cancels_the_question() {
    let app = App::new(asking());
    let mut chat = app.create().await;
    chat.send("go").await;
    asked(&mut chat, "t1:ask:0").await;
    chat.cancel().await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    assert!(chat.transcript().contains("-> nothing by Cancel"), "{}", chat.transcript());
    app.stop().await;
}

#[tokio::test]
async fn a_question_out_of_the_blue_has_a_card() {
    let app = App::new(
        script()
            .on_any_prompt()
            .ask_out_of_the_blue("Format the disk", answered("allow", act().say("Done."))),
    );
    let mut chat = app.create().await;
    chat.send("go").await;
    asked(&mut chat, "t1:ask:0").await;
    assert_eq!(chat.transcript(), "May I Format the disk? allow/always/reject…\n");
    // The answer of the policy `auto`.
    let Source::Permission(ask) = &chat.items[0].source else { panic!("{:?}", chat.items) };
    assert_eq!(auto_answer(ask).unwrap().option_id.as_deref(), Some("allow"));
    chat.answer("t1:ask:0", "allow").await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "completed");
    app.stop().await;
}

#[tokio::test]
async fn two_sessions_may_ask_at_once() {
    let app = App::new(asking());
    let (mut one, mut two) = (app.create().await, app.create().await);
    one.send("go").await;
    two.send("go").await;
    asked(&mut one, "t1:ask:0").await;
    asked(&mut two, "t1:ask:0").await;
    two.answer("t1:ask:0", "reject").await.unwrap();
    one.answer("t1:ask:0", "allow").await.unwrap();
    one.turn_ends().await;
    two.turn_ends().await;
    assert!(one.transcript().ends_with("Agent: Removed.\n"));
    assert!(two.transcript().ends_with("Agent: Then not.\n"));
    app.stop().await;
}

#[tokio::test]
async fn an_agent_may_take_its_question_back() {
    let usual = |id: &str| Choice { id: id.into(), name: id.into(), kind: None, description: None };
    let app = App::new(script().on_any_prompt().step(Step::Ask(Ask {
        tool: Some("c".into()),
        title: "Look".into(),
        options: vec![usual("yes")],
        withdraw_on_file: Some("enough".into()),
        otherwise: act().say("Never mind.").into_steps(),
        ..Ask::default()
    })));
    let mut chat = app.create().await;
    chat.send("go").await;
    asked(&mut chat, "t1:ask:0").await;
    std::fs::write(app.file("enough"), "").unwrap();
    chat.turn_ends().await;
    assert!(chat.transcript().contains("May I Look? yes -> nothing by Cancel\nAgent: Never mind."));
    app.stop().await;
}

#[tokio::test]
async fn a_question_is_void_when_the_agent_dies() {
    let app = App::new(
        script()
            .on_prompt("ask")
            .command("c", "rm a")
            .ask("c", answered("allow", act()))
            .on_prompt("die")
            .crash(3, "ouch"),
    );
    let (mut one, mut two) = (app.create().await, app.create().await);
    one.send("ask").await;
    asked(&mut one, "t1:ask:0").await;
    two.send("die").await;
    let end = one.turn_ends().await;
    assert_eq!(end.how, "ProcessCrash");
    assert!(one.transcript().contains("-> nothing by AgentLeft"), "{}", one.transcript());
    assert_eq!(one.answer("t1:ask:0", "allow").await, Err(ProviderError::PermissionClosed));
    app.stop().await;
}
