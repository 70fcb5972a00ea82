//! From the text of a message to a request, or to a sentence that says what is wrong with it.
//!
//! A browser's mistake costs it an `INVALID_MESSAGE` and nothing else. The id is looked for first and by itself, so
//! that even a request we can't read is answered under its own id.

use liminal_contract::{ClientMessage, Request, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The longest message that is read.
pub const LONGEST: usize = 8 * 1024 * 1024;

/// The contract's own messages nest three levels.
const DEEPEST: usize = 32;

/// An id is echoed on every reply.
const LONGEST_ID: usize = 200;

/// A message that was refused, and the id to say so under.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// The id it came with, when that could be found.
    pub request_id: Option<String>,
    /// What is wrong with it.
    pub failure: Failure,
}

impl Refused {
    /// The same, about the session it names, when that could be found.
    fn about(mut self, session: Option<SessionId>) -> Self {
        self.failure.session_id = session;
        self
    }
}

/// Reads one text message.
pub fn read(text: &str) -> Result<Request, Refused> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow, default, rename = "requestId")]
        request_id: Option<&'a RawValue>,
    }
    /// Apart, because whatever is wrong with it must not cost the id.
    #[derive(Deserialize)]
    struct About {
        #[serde(rename = "sessionId")]
        session_id: SessionId,
    }
    // Skipping over what it does not want, this takes any depth without recursion.
    let envelope = match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) => envelope,
        Err(error) if error.is_data() => return Err(refused(None, "a message is one JSON object")),
        Err(error) => return Err(refused(None, &format!("it is not JSON ({error})"))),
    };
    let request_id = match envelope.request_id.map(|raw| serde_json::from_str::<String>(raw.get()))
    {
        None => None,
        Some(Ok(id)) if id.len() <= LONGEST_ID => Some(id),
        Some(_) => {
            let what = format!("`requestId` must be a string of at most {LONGEST_ID} bytes");
            return Err(refused(None, &what));
        }
    };
    if text.len() > LONGEST {
        return Err(refused(request_id, "it is longer than 8 MiB"));
    }
    if depth(text) > DEEPEST {
        return Err(refused(request_id, &format!("it nests deeper than {DEEPEST} levels")));
    }
    serde_json::from_str::<ClientMessage>(text)
        .map(|message| Request { request_id: request_id.clone(), message })
        .map_err(|error| {
            let about = serde_json::from_str::<About>(text).ok();
            refused(request_id, &explain(text, &error)).about(about.map(|about| about.session_id))
        })
}

/// A message that is not text.
pub fn refuse_binary() -> Refused {
    refused(None, "a message is text, not binary")
}

fn refused(request_id: Option<String>, what: &str) -> Refused {
    Refused { request_id, failure: Failure::invalid(what) }
}

/// How deep brackets nest, those in strings apart.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (true, _) => {}
            (false, b'"') => in_string = true,
            (false, b'{' | b'[') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            (false, _) => {}
        }
    }
    deepest
}

/// Whether the contract has no message of this type: of one it has, an empty one lacks fields, or is right.
fn is_unknown(kind: &str) -> bool {
    let empty = serde_json::json!({ "type": kind });
    serde_json::from_value::<ClientMessage>(empty)
        .is_err_and(|error| error.to_string().starts_with("unknown variant"))
}

/// Names the field that is at fault.
fn explain(text: &str, error: &serde_json::Error) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
        return "a message is one JSON object".into();
    };
    match fields.get("type") {
        None => return "`type` is missing".into(),
        Some(Value::String(kind)) if is_unknown(kind) => {
            return format!("`type` {:?} is unknown", shortened(kind));
        }
        Some(Value::String(_)) => {}
        Some(_) => return "`type` must be a string".into(),
    }
    let complaint = first_line(error);
    match field_at_fault(&fields, &complaint) {
        Some(field) => format!("`{}`: {complaint}", shortened(&field)),
        None => complaint,
    }
}

/// The complaint names a field only when it is missing. Of one with a wrong value we find the name by leaving out
/// each in turn: without the one at fault, the complaint is gone or is that it is missing.
fn field_at_fault(fields: &Map<String, Value>, complaint: &str) -> Option<String> {
    if complaint.starts_with("missing field") {
        return None;
    }
    fields.keys().filter(|key| *key != "type").take(16).find_map(|key| {
        let mut without = fields.clone();
        without.remove(key);
        let is_at_fault = match serde_json::from_value::<ClientMessage>(Value::Object(without)) {
            Ok(_) => true,
            Err(error) => first_line(&error) == format!("missing field `{key}`"),
        };
        is_at_fault.then(|| key.clone())
    })
}

/// The complaint without its position, which means nothing to who wrote an object.
fn first_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    shortened(text)
}

fn shortened(text: &str) -> String {
    const ENOUGH: usize = 120;
    if text.chars().count() <= ENOUGH {
        return text.to_owned();
    }
    text.chars().take(ENOUGH).chain(['…']).collect()
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use liminal_contract::ErrorCode;

    use super::*;

    /// The id that is answered under, and the sentence.
    fn refusal(text: &str) -> (Option<String>, String) {
        let refused = read(text).unwrap_err();
        assert_eq!(refused.failure.code, ErrorCode::InvalidMessage);
        (refused.request_id, refused.failure.message)
    }

    #[test]
    fn a_message_of_the_contract_is_read() {
        let request =
            read(r#"{"type":"project:add","path":"/x","requestId":"7","other":[1]}"#).unwrap();
        assert_eq!(request.request_id.as_deref(), Some("7"));
        assert_eq!(request.message, ClientMessage::ProjectAdd { path: "/x".into() });
    }

    #[test]
    fn a_field_that_is_there_twice_does_not_cost_the_id() {
        let twice =
            r#"{"sessionId":null,"type":"session:close","sessionId":"a:b","requestId":"7"}"#;
        assert_eq!(refusal(twice).0.as_deref(), Some("7"));
    }

    #[test]
    fn the_field_at_fault_is_named() {
        for (text, sentence) in [
            (r#"{"requestId":"7"}"#, "`type` is missing"),
            (r#"{"requestId":"7","type":5}"#, "`type` must be a string"),
            (r#"{"requestId":"7","type":"project:what"}"#, "`type` \"project:what\" is unknown"),
            (r#"{"requestId":"7","type":"project:add"}"#, "missing field `path`"),
            (
                r#"{"requestId":"7","type":"project:add","path":5}"#,
                "`path`: invalid type: integer `5`, expected a string",
            ),
            (
                r#"{"requestId":"7","type":"project:add","path":null}"#,
                "`path`: invalid type: null, expected a string",
            ),
            (
                r#"{"requestId":"7","type":"session:older","sessionId":"a:b","before":-1}"#,
                "`before`: invalid value: integer `-1`, expected u64",
            ),
            (
                r#"{"requestId":"7","type":"session:send","sessionId":"nocolon","content":""}"#,
                "`sessionId`: a session id has the form agent:id",
            ),
            (
                r#"{"requestId":"7","type":"session:list","projectId":"p","archived":"yes"}"#,
                "`archived`: invalid type: string \"yes\", expected a boolean",
            ),
            (
                r#"{"requestId":"7","type":"session:create","projectId":"p","cliType":"a:b"}"#,
                "`cliType`: an agent id is made of letters, digits, '.', '_' and '-'",
            ),
            (
                r#"{"requestId":"7","type":"session:policy","sessionId":"a:b","policy":"never"}"#,
                "`policy`: unknown variant `never`, expected `ask` or `auto`",
            ),
        ] {
            assert_eq!(
                refusal(text),
                (Some("7".into()), format!("Invalid request payload: {sentence}.")),
                "{text}"
            );
        }
    }

    #[test]
    fn a_refusal_is_about_the_session_that_was_named() {
        let about = |text| read(text).unwrap_err().failure.session_id;
        let named = r#"{"type":"session:older","sessionId":"a:b","before":-1}"#;
        assert_eq!(about(named), SessionId::parse("a:b").ok());
        assert_eq!(about(r#"{"type":"session:older","sessionId":"none","before":1}"#), None);
        assert_eq!(about(r#"{"type":"session:older","sessionId":[[]],"before":1}"#), None);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in [
            "",
            "nonsense",
            "{",
            "[]",
            "5",
            "null",
            "\"x\"",
            "{\"type\":",
            "[".repeat(100_000).as_str(),
        ] {
            assert_eq!(refusal(text).0, None, "{text:.20}");
        }
    }

    #[test]
    fn an_id_that_is_none_is_refused() {
        for id in ["5", "{}", "[[]]", &format!("\"{}\"", "x".repeat(201))] {
            let (request_id, sentence) =
                refusal(&format!(r#"{{"type":"project:list","requestId":{id}}}"#));
            assert_eq!(request_id, None);
            assert!(sentence.contains("`requestId`"), "{sentence}");
        }
    }

    #[test]
    fn no_depth_and_no_length_hides_the_id() {
        for levels in [100, 10_000] {
            let deep = format!(
                r#"{{"type":"project:list","x":{}{},"requestId":"7"}}"#,
                "[".repeat(levels),
                "]".repeat(levels)
            );
            assert_eq!(refusal(&deep).0.as_deref(), Some("7"));
        }
        let long =
            format!(r#"{{"type":"project:add","path":"{}","requestId":"7"}}"#, "x".repeat(LONGEST));
        assert_eq!(refusal(&long).0.as_deref(), Some("7"));
    }

    #[test]
    fn brackets_in_strings_are_not_depth() {
        let path = "[{".repeat(100);
        let text = format!(r#"{{"type":"project:add","path":"\"{path}\\"}}"#);
        assert!(read(&text).is_ok());
    }
}
