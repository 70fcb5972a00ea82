//! Requests and answers without any process.

use serde_json::{Value, json};

use super::super::envelope::{Incoming, read};
use super::*;

fn connection() -> (Connection<&'static str>, mpsc::UnboundedReceiver<Outgoing>) {
    let (outgoing, lines) = mpsc::unbounded_channel();
    (Connection::new(outgoing), lines)
}

fn written(lines: &mut mpsc::UnboundedReceiver<Outgoing>) -> Value {
    let line = lines.try_recv().unwrap().line;
    assert_eq!(line.last(), Some(&b'\n'));
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    serde_json::from_slice(&line).unwrap()
}

#[test]
fn an_answer_finds_who_asked_and_finds_them_once() {
    let (connection, mut lines) = connection();
    assert_eq!(connection.request("initialize", &json!({"protocolVersion": 1}), "start"), Ok(0));
    assert_eq!(connection.request("session/new", &json!({}), "new"), Ok(1));
    assert_eq!(
        written(&mut lines),
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
    );
    assert_eq!(connection.take(&RequestId::Number(1)), Some("new"));
    assert_eq!(connection.take(&RequestId::Number(1)), None);
    assert_eq!(connection.take(&RequestId::Str("0".into())), None);
    assert_eq!(connection.take(&RequestId::Number(0)), Some("start"));
}

#[test]
fn the_ids_of_the_two_directions_do_not_mix() {
    let (connection, mut lines) = connection();
    connection.request("session/prompt", &json!({}), "prompt").unwrap();
    written(&mut lines);

    // The agent's request has the same id as ours.
    let asked = br#"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{}}"#;
    let Ok(Incoming::Request { id, .. }) = read(asked) else { panic!("not a request") };
    connection.answer(&id, Ok(json!({"outcome": {"outcome": "cancelled"}})), None).unwrap();
    assert_eq!(
        written(&mut lines),
        json!({"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "cancelled"}}})
    );

    assert_eq!(connection.take(&RequestId::Number(0)), Some("prompt"));
}

#[test]
fn the_end_hands_back_everyone_who_waits_and_takes_no_more() {
    let (connection, _lines) = connection();
    connection.request("a", &json!({}), "first").unwrap();
    connection.request("b", &json!({}), "second").unwrap();
    assert_eq!(connection.close(), ["first", "second"]);
    assert_eq!(connection.request("c", &json!({}), "third"), Err(Closed));
    assert_eq!(connection.take(&RequestId::Number(0)), None);
}

#[test]
fn a_request_is_given_up_by_its_id() {
    let (connection, mut lines) = connection();
    let id = connection.request("session/new", &json!({}), "new").unwrap();
    written(&mut lines);
    connection.cancel_request(id).unwrap();
    assert_eq!(
        written(&mut lines),
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}})
    );
}

#[test]
fn errors_are_written_as_json_rpc_has_them() {
    let (connection, mut lines) = connection();
    let unknown = RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found: x/y");
    connection.answer::<()>(&RequestId::Str("a".into()), Err(unknown), None).unwrap();
    assert_eq!(
        written(&mut lines),
        json!({"jsonrpc": "2.0", "id": "a", "error": {"code": -32601, "message": "Method not found: x/y"}})
    );
}

#[test]
fn a_line_is_known_by_its_method_and_id() {
    let kind = |line: &str| match read(line.as_bytes()) {
        Ok(Incoming::Request { id, method, params }) => format!("{method} {id} {params}"),
        Ok(Incoming::Notification { method, params }) => format!("{method} {params}"),
        Ok(Incoming::Response { id, result: Ok(result) }) => format!("{id} = {result}"),
        Ok(Incoming::Response { id, result: Err(error) }) => format!("{id} ! {error}"),
        Err(NotAMessage::NotJson(_)) => "not json".to_owned(),
        Err(NotAMessage::Neither) => "neither".to_owned(),
    };
    use super::super::envelope::NotAMessage;
    for (line, expected) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"x":1}}"#, r#"a/b 7 {"x":1}"#),
        (r#"{"params":[1],"method":"a\/b"}"#, "a/b [1]"),
        (r#"{"method":"quiet"}"#, "quiet null"),
        (r#"{"id":null,"method":"quiet"}"#, "quiet null"),
        (r#"{"id":3,"result":{"a":[]}}"#, r#"3 = {"a":[]}"#),
        (r#"{"id":3,"result":null}"#, "3 = null"),
        (r#"{"id":3}"#, "3 = null"),
        (
            r#"{"id":1,"error":{"code":-32603,"message":"Internal error","data":{"details":"no rollout"}}}"#,
            "1 ! Internal error: no rollout",
        ),
        (r#"{"id":1,"error":"went wrong"}"#, r#"1 ! "went wrong""#),
        (r#"{"id":1,"error":{"code":-32000}}"#, "1 ! The agent gave no reason."),
        (r#"{"jsonrpc":"2.0"}"#, "neither"),
        ("Listening on stdio", "not json"),
        ("", "not json"),
        ("[]", "not json"),
    ] {
        assert_eq!(kind(line), expected, "{line}");
    }
    assert!(matches!(read(b"{\"id\":1,\"method\":\"\xff\"}"), Err(NotAMessage::NotJson(_))));
}
