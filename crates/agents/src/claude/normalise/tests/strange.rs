//! Lines that Claude Code may send one day, and lines that it should never send.

use super::*;

#[test]
fn a_result_of_an_unknown_call_makes_its_own_card() {
    let mut normaliser = in_a_turn();
    let said = read(&mut normaliser, &[tool_result("toolu_x", Value::Null)]);
    let item_id = ItemId::new("t:call:toolu_x");
    assert_eq!(said[0], started(TurnOrigin::User));
    assert_eq!(
        said.last(),
        Some(&Payload::ItemDone {
            item_id,
            final_item: FinalItem::FunctionCallOutput {
                call_id: "toolu_x".to_owned(),
                output: "ok".to_owned(),
                is_error: false,
                about: Box::default(),
            },
        })
    );
}

#[test]
fn an_unknown_line_says_nothing() {
    let new = json!({"type": "system", "subtype": "brand_new", "x": [1]});
    let odd = json!({"type": "assistant", "message": 7});
    for strange in [new, odd] {
        assert_eq!(normaliser().read(line(&strange), AT), []);
    }
}

#[test]
fn another_id_of_the_agent_for_the_session_is_told() {
    let init = json!({"type": "system", "subtype": "init", "session_id": "renamed", "model": "m"});
    let outputs = normaliser().read(line(&init), AT);
    assert!(
        outputs.contains(&Output::Fact(SessionFact::AgentRef("renamed".to_owned()))),
        "{outputs:?}"
    );
}

#[test]
fn an_unknown_block_is_named_to_the_user() {
    let mut normaliser = in_a_turn();
    let said = read(&mut normaliser, &[whole("m", None, json!({"type": "hologram", "d": 3}))]);
    assert!(
        said.iter().any(|payload| matches!(payload,
            Payload::ItemDone { final_item: FinalItem::Notice { notice }, .. }
                if notice.text.contains("hologram"))),
        "{said:?}"
    );
}

#[test]
fn a_call_without_an_id_or_a_name_is_no_call() {
    for call in [
        json!({"type": "tool_use", "id": "", "name": "Bash", "input": {}}),
        json!({"type": "tool_use", "id": "toolu_x", "name": "", "input": {}}),
        json!({"type": "tool_result", "tool_use_id": "", "content": "ok"}),
    ] {
        let mut normaliser = in_a_turn();
        let said = read(&mut normaliser, &[whole("msg", None, call.clone())]);
        let is_call = |payload: &Payload| {
            matches!(payload, Payload::ItemStart { item: NewItem::FunctionCall { .. }, .. })
        };
        assert!(!said.iter().any(is_call), "{call}: {said:?}");
    }
}

#[test]
fn more_tokens_than_can_be_counted_are_as_many_as_can() {
    let most = json!({"input_tokens": u64::MAX, "output_tokens": u64::MAX,
        "cache_read_input_tokens": u64::MAX});
    let message = json!({"type": "stream_event", "event": {"type": "message_start",
        "message": {"id": "m", "model": "m", "content": [], "usage": most.clone()}}});
    let whole = json!({"type": "assistant",
        "message": {"id": "m", "model": "m", "content": [{"type": "text", "text": "a"}], "usage": most}});
    let mut normaliser = in_a_turn();
    assert_eq!(read(&mut normaliser, &[message, whole])[0], started(TurnOrigin::User));
}

#[test]
fn an_api_error_of_an_older_version_is_no_message() {
    let says = |text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": "assistant", "message": {"id": "m", "model": "<synthetic>", "content": content}})
    };
    let begins = |said: Vec<Payload>| {
        said.iter().filter(|payload| matches!(payload, Payload::ItemStart { .. })).count()
    };
    assert_eq!(begins(read(&mut in_a_turn(), &[says("API Error: 500 overloaded")])), 0);
    assert_eq!(begins(read(&mut in_a_turn(), &[says("Context: 3 tokens")])), 1);
}
