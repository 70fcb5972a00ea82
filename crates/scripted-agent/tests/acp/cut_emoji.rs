//! An agent that cuts texts in the middle of an emoji, as programs in JavaScript do: it writes half of one.

use liminal_agents::History;
use liminal_scripted_agent::{Steps, script};

use super::support::App;

/// A notification of the session `cut`.
fn update(update: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"cut","update":{update}}}}}"#
    )
}

fn words(text: &str) -> String {
    update(&format!(
        r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#
    ))
}

#[tokio::test]
async fn words_and_calls_around_half_an_emoji_are_kept() {
    let call = r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"echo \uDF89","kind":"execute",
        "status":"completed"}"#;
    let app = App::new(
        script()
            .knows_session("cut", Vec::new())
            .on_any_prompt()
            .raw(&words(r"A party \ud83c"))
            .raw(&words(r"\udf89 with \ud83c\udf89 and \\ud83c. "))
            .raw(&update(&call.replace('\n', ""))),
    );
    let mut chat = app.load("cut", History::Known).await.unwrap();
    assert_eq!(chat.asks("go").await.how, "completed");
    let said = "A party \u{FFFD}\u{FFFD} with \u{1F389} and \\ud83c. ";
    assert_eq!(chat.transcript(), format!("Agent: {said}\nExecute echo \u{FFFD}: \n"));
    app.stop().await;
}

#[tokio::test]
async fn a_permission_with_half_an_emoji_has_its_card() {
    let ask = r#"{"jsonrpc":"2.0","id":"ask","method":"session/request_permission","params":{
        "sessionId":"cut","toolCall":{"toolCallId":"c","title":"echo \ud83c","kind":"execute"},
        "options":[{"optionId":"allow","name":"Allow \ud83c","kind":"allow_once"}]}}"#;
    let app = App::new(
        script()
            .knows_session("cut", Vec::new())
            .on_any_prompt()
            .raw(&ask.replace('\n', ""))
            .wait_for_cancel(),
    );
    let mut chat = app.load("cut", History::Known).await.unwrap();
    chat.send("go").await;
    let (item, ask) = chat.asked().await;
    assert_eq!(
        (ask.title.as_str(), ask.options[0].name.as_str()),
        ("echo \u{FFFD}", "Allow \u{FFFD}")
    );
    chat.answer(item, "allow").await.unwrap();
    chat.cancel().await.unwrap();
    assert_eq!(chat.turn_ends().await.how, "cancelled");
    app.stop().await;
}
