//! Parses the text of a message into a request, or explains what is wrong with it.
//!
//! A browser's mistake gets an `INVALID_MESSAGE` and has no other effect. The id is parsed first and separately, so
//! that even a request we can't read is answered under its own id.

use liminal_contract::{ClientMessage, Request, SessionId};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// In bytes.
pub const LONGEST: usize = 8 * 1024 * 1024;

/// In levels; the contract's own messages need three.
const DEEPEST: usize = 32;

/// In bytes. An id is echoed on every reply.
const LONGEST_ID: usize = 200;

const NOT_AN_OBJECT: &str = "a message must be one JSON object";

#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// The id of the message, if it could be found.
    pub request_id: Option<String>,
    pub failure: Failure,
}

impl Refused {
    /// About the session it names, if that could be found.
    fn about(mut self, session: Option<SessionId>) -> Self {
        self.failure.session_id = session;
        self
    }
}

pub fn read(text: &str) -> Result<Request, Refused> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow, default, rename = "requestId")]
        request_id: Option<&'a RawValue>,
    }
    /// Separate, so that an invalid session id does not hide the request id.
    #[derive(Deserialize)]
    struct About {
        #[serde(rename = "sessionId")]
        session_id: SessionId,
    }
    // Unwanted fields are skipped without recursion, so any depth is safe.
    let envelope = match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) => envelope,
        Err(error) if error.is_data() => return Err(refused(None, NOT_AN_OBJECT)),
        Err(error) => return Err(refused(None, &not_json(&error))),
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
        return Err(refused(request_id, "the message is longer than 8 MiB"));
    }
    if depth(text) > DEEPEST {
        return Err(refused(
            request_id,
            &format!("the message nests deeper than {DEEPEST} levels"),
        ));
    }
    serde_json::from_str::<ClientMessage>(text)
        .map(|message| Request { request_id: request_id.clone(), message })
        .map_err(|error| {
            let about = serde_json::from_str::<About>(text).ok();
            refused(request_id, &explain(text, &error)).about(about.map(|about| about.session_id))
        })
}

pub fn refuse_binary() -> Refused {
    refused(None, "a message must be text, not binary")
}

fn refused(request_id: Option<String>, what: &str) -> Refused {
    Refused { request_id, failure: Failure::invalid(what) }
}

fn not_json(error: &serde_json::Error) -> String {
    format!("the message is not JSON ({error})")
}

/// How deep brackets nest, not counting those in strings.
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

/// Whether the contract has no message of this type. An empty message of a known type lacks fields, or is valid.
fn is_unknown(kind: &str) -> bool {
    let empty = serde_json::json!({ "type": kind });
    serde_json::from_value::<ClientMessage>(empty)
        .is_err_and(|error| error.to_string().starts_with("unknown variant"))
}

/// Names the field with the error.
fn explain(text: &str, error: &serde_json::Error) -> String {
    let fields: Map<String, Value> = match serde_json::from_str(text) {
        Ok(fields) => fields,
        Err(error) if error.is_data() => return NOT_AN_OBJECT.into(),
        // The envelope skips a string that has no text, such as half of a surrogate pair.
        Err(error) => return not_json(&error),
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

/// The parser names a field only when it is missing. For a wrong value we find the field by trying each in turn: the
/// error is another, or gone, both without the field and with another value in it. One of the two is not enough: some
/// missing fields are noticed before the wrong value, and another value may be wrong too. Fields that are read before
/// the wrong one pass this as well, so one whose value the parser quotes comes first.
fn field_at_fault(fields: &Map<String, Value>, complaint: &str) -> Option<String> {
    if complaint.starts_with("missing field") {
        return None;
    }
    let is_other = |fields: Map<String, Value>| {
        serde_json::from_value::<ClientMessage>(Value::Object(fields))
            .map_or_else(|error| first_line(&error) != complaint, |_message| true)
    };
    let suspects = fields.iter().filter(|(key, _)| *key != "type").take(16);
    let at_fault: Vec<_> = suspects
        .filter(|(key, value)| {
            let mut without = fields.clone();
            without.remove(*key);
            let with = |other: Value| {
                let mut fields = fields.clone();
                fields.insert((*key).clone(), other);
                fields
            };
            is_other(without) && others(value).into_iter().any(|other| is_other(with(other)))
        })
        .collect();
    let is_quoted = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        complaint.contains(&format!("`{text}`"))
    };
    let quoted = at_fault.iter().find(|(_, value)| is_quoted(value));
    quoted.or(at_fault.first()).map(|(key, _)| (*key).clone())
}

/// Other values of the same type. One of the strings is a session's id, the other an agent's.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => vec![Value::from(u8::from(number.as_u64() == Some(0)))],
        Value::Bool(flag) => vec![Value::Bool(!flag)],
        Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => {
            vec![Value::from("a:b"), Value::from("ab")]
        }
    }
}

/// The error without its position, which means nothing to someone who wrote an object.
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

    /// The id and the message of the refusal.
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
                r#"{"requestId":"7","type":"search","query":"\ud800"}"#,
                "the message is not JSON (unexpected end of hex escape at line 1 column 49)",
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
            (
                r#"{"requestId":"7","type":"session:queue","sessionId":"a:b","message":"m","act":"jump"}"#,
                "`act`: unknown variant `jump`, expected one of `remove`, `edit`, `move`, `steer`, `hold`, `release`",
            ),
            (
                r#"{"requestId":"7","type":"session:queue","sessionId":"a:b","message":"m",
                    "act":"edit","content":"c","was":5}"#,
                "`was`: invalid type: integer `5`, expected a string",
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
