//! Whatever a browser sends, it is read as a request or refused with a message, under its own id.

use liminal_contract::ErrorCode;
use proptest::prelude::*;

use super::*;

/// One message of each kind.
fn messages() -> Vec<String> {
    [
        r#"{"type":"project:list","requestId":"1"}"#,
        r#"{"type":"project:add","path":"/home/user/demo","requestId":"1"}"#,
        r#"{"type":"project:demo","requestId":"1"}"#,
        r#"{"type":"project:remove","projectId":"p","requestId":"1"}"#,
        r#"{"type":"session:list","projectId":"p","archived":true,"requestId":"1"}"#,
        r#"{"type":"outside:list","projectId":"p","requestId":"1"}"#,
        r#"{"type":"outside:ask","projectId":"p","requestId":"1"}"#,
        r#"{"type":"outside:find","query":"q","requestId":"1"}"#,
        r#"{"type":"outside:keep","projectId":"p","sessions":["codex:a"],"requestId":"1"}"#,
        r#"{"type":"outside:stop","requestId":"1"}"#,
        r#"{"type":"outside:automatic","on":true,"requestId":"1"}"#,
        r#"{"type":"session:branch","sessionId":"codex:s","at":"after","as":"branch","requestId":"1"}"#,
        r#"{"type":"outside:adopt","projectId":"p","cliType":"codex","refs":["a"],"requestId":"1"}"#,
        r#"{"type":"session:create","projectId":"p","cliType":"claude-code","policy":"ask","requestId":"1"}"#,
        r#"{"type":"session:open","sessionId":"codex:s","since":{"stream":"x","seq":7},"tails":true,"requestId":"1"}"#,
        concat!(
            r#"{"type":"session:create","projectId":"p","cliType":"codex","#,
            r#""workspace":{"kind":"worktree","base":"main","name":"x","bring":true},"#,
            r#""options":{"model":"m","fast":true},"confirmed":true,"requestId":"1"}"#
        ),
        r#"{"type":"session:task","sessionId":"codex:s","taskId":"t","act":"output","requestId":"1"}"#,
        r#"{"type":"session:mcp","sessionId":"codex:s","server":"x","act":"reconnect","requestId":"1"}"#,
        r#"{"type":"workspace:offer","projectId":"p","requestId":"1"}"#,
        r#"{"type":"workspace:discarded","requestId":"1"}"#,
        r#"{"type":"workspace:forget","saved":"s","requestId":"1"}"#,
        r#"{"type":"session:open","sessionId":"codex:s","around":"t:0:0","requestId":"1"}"#,
        concat!(
            r#"{"type":"session:send","sessionId":"codex:s","content":"hello","#,
            r#""attachments":[{"id":"0a-1.png","name":"n"},{"path":"a.rs","lines":[1,2]}],"#,
            r#""whenBusy":"queue","requestId":"0191d1a2-0000-7000-8000-000000000000"}"#
        ),
        concat!(
            r#"{"type":"session:queue","sessionId":"codex:s","message":"m","act":"edit","#,
            r#""was":"a","content":"b","requestId":"1"}"#
        ),
        r#"{"type":"session:queue","sessionId":"codex:s","message":"m","act":"move","before":"n","requestId":"1"}"#,
        r#"{"type":"session:queue","sessionId":"codex:s","message":"m","act":"remove","requestId":"1"}"#,
        r#"{"type":"session:queue","sessionId":"codex:s","message":"m","act":"steer","requestId":"1"}"#,
        r#"{"type":"session:queue","sessionId":"codex:s","message":"m","act":"hold","requestId":"1"}"#,
        r#"{"type":"session:queue","sessionId":"codex:s","message":"m","act":"release","requestId":"1"}"#,
        r#"{"type":"session:queue-resume","sessionId":"codex:s","requestId":"1"}"#,
        concat!(
            r#"{"type":"session:branch","sessionId":"codex:s","itemId":"t:user","at":"before","as":"edit","#,
            r#""content":"c","attachments":[{"path":"a.rs"}],"restoreFiles":true,"#,
            r#""paths":["a.rs"],"expect":"e","requestId":"1"}"#
        ),
        r#"{"type":"session:cancel","sessionId":"codex:s","requestId":"1"}"#,
        r#"{"type":"session:looked","sessionId":"codex:s","requestId":"1"}"#,
        r#"{"type":"now:follow","requestId":"1"}"#,
        r#"{"type":"now:leave","requestId":"1"}"#,
        r#"{"type":"session:offer","projectId":"p","requestId":"1"}"#,
        concat!(
            r#"{"type":"compare:start","projectId":"p","base":"main","bring":true,"content":"x","#,
            r#""agents":[{"cliType":"codex","options":{"model":"m"}},{"cliType":"codex","policy":"ask"}],"#,
            r#""attachments":[{"path":"a"}],"confirmed":true,"requestId":"1"}"#
        ),
        r#"{"type":"compare:list","requestId":"1"}"#,
        concat!(
            r#"{"type":"compare:keep","compareId":"c","sessionId":"codex:s","#,
            r#""discardOthers":true,"requestId":"1"}"#
        ),
        r#"{"type":"session:archive","sessionId":"codex:s","requestId":"1"}"#,
        r#"{"type":"session:reconnect","cliType":"codex","sessionId":"codex:s","requestId":"1"}"#,
        r#"{"type":"session:close","sessionId":"codex:s","requestId":"1"}"#,
        r#"{"type":"session:older","sessionId":"codex:s","before":200,"requestId":"1"}"#,
        r#"{"type":"session:newer","sessionId":"codex:s","after":200,"requestId":"1"}"#,
        concat!(
            r#"{"type":"session:permission","sessionId":"codex:s","itemId":"t:ask:0","#,
            r#""optionId":"allow","answers":{"q":"a"},"requestId":"1"}"#
        ),
        r#"{"type":"session:rename","sessionId":"codex:s","title":"T","requestId":"1"}"#,
        r#"{"type":"session:unarchive","sessionId":"codex:s","requestId":"1"}"#,
        r#"{"type":"session:delete","sessionId":"codex:s","worktree":"discard","requestId":"1"}"#,
        r#"{"type":"session:policy","sessionId":"codex:s","policy":"auto","requestId":"1"}"#,
        r#"{"type":"session:option","sessionId":"codex:s","id":"model","value":"big","requestId":"1"}"#,
        r#"{"type":"session:option","sessionId":"codex:s","id":"fast","value":true,"confirmed":true,"requestId":"1"}"#,
        r#"{"type":"changes:list","sessionId":"codex:s","scope":{"kind":"uncommitted"},"requestId":"1"}"#,
        concat!(
            r#"{"type":"changes:file","sessionId":"codex:s","scope":{"kind":"uncommitted"},"#,
            r#""path":"a b","context":25,"ignoreWhitespace":true,"requestId":"1"}"#
        ),
        concat!(
            r#"{"type":"changes:comment","sessionId":"codex:s","comment":{"id":"c","path":"a","side":"new","#,
            r#""lines":[1,2],"snippet":"x","text":"Why?"},"requestId":"1"}"#
        ),
        r#"{"type":"changes:uncomment","sessionId":"codex:s","commentId":"c","requestId":"1"}"#,
        r#"{"type":"changes:send-comments","sessionId":"codex:s","requestId":"1"}"#,
        r#"{"type":"changes:storage","most":1000,"requestId":"1"}"#,
        r#"{"type":"workspace:renew","sessionId":"codex:s","requestId":"1"}"#,
        r#"{"type":"workspace:setup","sessionId":"codex:s","act":"skip","requestId":"1"}"#,
        r#"{"type":"changes:list","sessionId":"codex:s","scope":{"kind":"turn","turnId":"t"},"requestId":"1"}"#,
        concat!(
            r#"{"type":"changes:act","sessionId":"codex:s","act":{"kind":"undo-turn","turnId":"t","#,
            r#""paths":["a"]},"preview":true,"expect":"e","requestId":"1"}"#
        ),
        r#"{"type":"session:looked","sessionId":"codex:s","state":"4b825dc642cb6eb9a060e54bf8d69288fbee4904"}"#,
        r#"{"type":"session:continue-at","sessionId":"codex:s","at":"2026-11-17T18:15:00Z"}"#,
        r#"{"type":"agents:list","requestId":"1"}"#,
        r#"{"type":"path:complete","prefix":"/ho","requestId":"1"}"#,
        r#"{"type":"files:find","sessionId":"codex:s","query":"ma.rs","limit":9,"requestId":"1"}"#,
        r#"{"type":"search","query":"\"a b\" c*","limit":50,"requestId":"1"}"#,
    ]
    .map(str::to_owned)
    .to_vec()
}

#[test]
fn the_messages_are_right_before_they_are_damaged() {
    for message in messages() {
        assert!(read(&message).is_ok(), "{message}");
    }
}

proptest! {
    #![proptest_config(liminal_hostile::config())]

    #[test]
    fn a_browser_may_send_anything(bytes in liminal_hostile::text(messages())) {
        // Invalid UTF-8 is refused before it gets here.
        let text = String::from_utf8_lossy(&bytes);
        match read(&text) {
            Ok(request) => {
                let again = serde_json::to_string(&request.message).unwrap();
                prop_assert_eq!(read(&again).unwrap().message, request.message);
            }
            Err(refused) => {
                prop_assert_eq!(refused.failure.code, ErrorCode::InvalidMessage);
                prop_assert!(refused.failure.message.starts_with("Invalid request payload: "));
                prop_assert!(refused.failure.message.len() < 2_000, "{}", refused.failure.message);
                // With a duplicate field, nobody can say which one was meant.
                let named_once = text.matches("\"requestId\"").count() == 1;
                let sent: Option<Value> = serde_json::from_str(&text).ok();
                let id = sent.as_ref().and_then(|sent| sent.get("requestId")?.as_str());
                if let Some(id) = id.filter(|id| named_once && id.len() <= LONGEST_ID) {
                    prop_assert_eq!(refused.request_id.as_deref(), Some(id));
                }
            }
        }
    }
}
