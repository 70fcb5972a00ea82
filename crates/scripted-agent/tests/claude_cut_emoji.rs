//! A Claude Code that cuts texts in the middle of an emoji: it writes half of one.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "support/chat.rs"]
mod chat;
#[path = "support/claude.rs"]
mod claude;

use claude::{Pace, Stage};
use liminal_agents::CliProvider;
use liminal_contract::OutcomeBy;
use liminal_scripted_agent::{Steps, script};

#[tokio::test]
async fn words_around_half_an_emoji_are_kept() {
    let line = r#"{"type":"assistant","parent_tool_use_id":null,"session_id":"x",
        "uuid":"00000000-0000-4000-8000-000000000099","message":{"id":"m9","type":"message","role":"assistant",
        "model":"x","stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1},
        "content":[{"type":"text","text":"A party \ud83c, then \ud83c\udf89. "}]}}"#;
    let script = script().on_any_prompt().raw(&line.replace('\n', "")).say("Bye.").build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    assert_eq!(chat.asks("go").await.how, "completed");
    assert_eq!(chat.texts(), ["A party \u{FFFD}, then \u{1F389}. ", "Bye."]);
    stage.provider.shutdown().await;
}

#[tokio::test]
async fn a_permission_with_half_an_emoji_has_its_card() {
    let ask = r#"{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool",
        "tool_name":"Bash","tool_use_id":"t","input":{"command":"echo \ud83c"}}}"#;
    let script = script().on_any_prompt().raw(&ask.replace('\n', "")).wait_for_cancel().build();
    let stage = Stage::scripted(&script, Pace::default());
    let mut chat = stage.create().await.unwrap();
    chat.send("go").await;
    let (item, ask) = chat.asked().await;
    assert!(ask.title.contains("echo \u{FFFD}"), "{ask:?}");
    chat.answer(&item, "allow").await.unwrap();
    chat.until("the answer", |chat| {
        chat.outcome(&item) == Some((Some("allow".to_owned()), OutcomeBy::User))
    })
    .await;
    stage.provider.shutdown().await;
}
