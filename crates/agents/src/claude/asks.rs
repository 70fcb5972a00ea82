//! Permissions and questions: from `can_use_tool` to the card the user sees, and from the user's answer to the reply.
//!
//! Pure. Nothing that is answered here is ever written into the user's project: what holds longer than once holds for
//! the session.

use std::path::Path;

use liminal_contract::{Answer, AskKind, AskOption, Question, QuestionOption};
use liminal_stream::{Ask, SourcePart};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::tools;
use super::wire::CanUseTool;

const ALLOW: &str = "allow";
const ALLOW_SESSION: &str = "allow-session";
const DENY: &str = "deny";

/// What the agent reads when the user says no.
const REFUSED: &str =
    "The user did not allow this. Do something else, or ask what they want instead.";
const UNANSWERED: &str = "The user did not answer the question.";
const KEEP_PLANNING: &str = "The user does not approve the plan yet. Keep planning.";

/// The card for a request.
pub fn ask(request: &CanUseTool, project: &Path) -> Ask {
    let name = request.tool_name.as_str();
    let questions = questions(request);
    let mut parts = Vec::new();
    match name {
        "Bash" => {
            if let Some(command) = request.input.get("command").and_then(Value::as_str) {
                let language = Some("bash".to_owned());
                parts.push(SourcePart::Code { text: command.to_owned(), language });
            }
        }
        "AskUserQuestion" if questions.as_ref().is_some_and(|all| !all.is_empty()) => {}
        _ => parts.push(tools::preview(name, &request.input).unwrap_or_else(|| SourcePart::Code {
            text: tools::plain(&Value::Object(request.input.clone())),
            language: Some("json".to_owned()),
        })),
    }
    if let Some(reason) = request.decision_reason.as_deref().filter(|reason| !reason.is_empty()) {
        parts.push(SourcePart::Text { text: reason.to_owned() });
    }
    Ask {
        call_id: request.tool_use_id.clone(),
        title: title(request, project),
        tool_kind: tools::kind(name),
        parts,
        options: options(request),
        questions,
        outcome: None,
    }
}

fn title(request: &CanUseTool, project: &Path) -> String {
    match request.tool_name.as_str() {
        "ExitPlanMode" => "Approve this plan?".to_owned(),
        name => tools::title(name, &request.input, project),
    }
}

fn options(request: &CanUseTool) -> Vec<AskOption> {
    let option = |id: &str, name: &str, kind| AskOption {
        option_id: id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    match request.tool_name.as_str() {
        "AskUserQuestion" => vec![
            option(ALLOW, "Answer", AskKind::AllowOnce),
            option(DENY, "Don't answer", AskKind::RejectOnce),
        ],
        "ExitPlanMode" => vec![
            option(ALLOW, "Approve, ask for each edit", AskKind::AllowOnce),
            option(ALLOW_SESSION, "Approve and allow edits", AskKind::AllowAlways),
            option(DENY, "Keep planning", AskKind::RejectOnce),
        ],
        _ => {
            let mut options = vec![option(ALLOW, "Allow once", AskKind::AllowOnce)];
            let lasting = lasting(request);
            if !lasting.is_empty() {
                let only_mode = lasting.iter().all(|update| update["type"] == "setMode");
                let name = if only_mode {
                    "Allow all edits for this session"
                } else {
                    "Allow for this session"
                };
                options.push(option(ALLOW_SESSION, name, AskKind::AllowAlways));
            }
            options.push(option(DENY, "Deny", AskKind::RejectOnce));
            options
        }
    }
}

/// What to tell the agent so that it does not ask again in this session. A change of mode would allow far more than
/// the card shows, so it is taken only where nothing narrower is offered.
fn lasting(request: &CanUseTool) -> Vec<Value> {
    if request.suppress_always_allow_rule {
        return Vec::new();
    }
    let narrow = request.permission_suggestions.iter().any(|update| update["type"] == "addRules");
    request
        .permission_suggestions
        .iter()
        .filter(|update| !(narrow && update["type"] == "setMode"))
        .filter(|update| update.is_object())
        .cloned()
        .map(|mut update| {
            update["destination"] = json!("session");
            update
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    question: String,
    #[serde(default)]
    header: Option<String>,
    #[serde(default)]
    multi_select: bool,
    #[serde(default)]
    options: Vec<Offered>,
}

#[derive(Deserialize)]
struct Offered {
    label: String,
    #[serde(default)]
    description: Option<String>,
}

/// What is asked. None of it where it can't be read: then the card shows it as it came, and it is a question all
/// the same, which nobody but the user answers.
fn questions(request: &CanUseTool) -> Option<Vec<Question>> {
    if request.tool_name != "AskUserQuestion" {
        return None;
    }
    let asked = request.input.get("questions").map(Vec::<Asked>::deserialize);
    let asked = asked.and_then(Result::ok).unwrap_or_default();
    let question = |asked: Asked| Question {
        question: asked.question,
        header: asked.header.filter(|header| !header.is_empty()),
        options: asked
            .options
            .into_iter()
            .map(|option| QuestionOption { label: option.label, description: option.description })
            .collect(),
        multiple: asked.multi_select,
    };
    Some(asked.into_iter().map(question).collect())
}

/// What an answer means for the agent.
#[derive(Debug, PartialEq)]
pub struct Reply {
    /// The `response` of the control response.
    pub response: Value,
    /// Whether the tool will not run.
    pub refused: bool,
}

/// The reply to a request. `None` when the answer names an option that was not offered.
pub fn reply(request: &CanUseTool, answer: &Answer) -> Option<Reply> {
    let mut input = request.input.clone();
    Some(match answer.option_id.as_deref() {
        Some(ALLOW) => {
            if request.tool_name == "AskUserQuestion" {
                input.insert("answers".to_owned(), json!(answer.answers));
            }
            allow(input, Vec::new())
        }
        Some(ALLOW_SESSION) if request.tool_name == "ExitPlanMode" => allow(
            input,
            vec![json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"})],
        ),
        Some(ALLOW_SESSION) => match lasting(request) {
            updates if updates.is_empty() => return None,
            updates => allow(input, updates),
        },
        Some(DENY) | None => {
            let message = match request.tool_name.as_str() {
                "AskUserQuestion" => UNANSWERED,
                "ExitPlanMode" => KEEP_PLANNING,
                _ => REFUSED,
            };
            Reply { response: json!({"behavior": "deny", "message": message}), refused: true }
        }
        Some(_) => return None,
    })
}

fn allow(input: Map<String, Value>, updates: Vec<Value>) -> Reply {
    let mut response = json!({"behavior": "allow", "updatedInput": input});
    if !updates.is_empty() {
        response["updatedPermissions"] = Value::Array(updates);
    }
    Reply { response, refused: false }
}

#[cfg(test)]
mod tests;
