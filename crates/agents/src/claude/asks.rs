//! Permissions and questions: from `can_use_tool` to the card the user sees, and from the user's answer to the reply.
//!
//! Pure. No answer is ever written into the user's project: one that outlasts its call holds for the session.

use std::path::Path;

use liminal_contract::{Answer, AskKind, AskOption, Question, QuestionOption};
use liminal_stream::{Permission, SourcePart};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::tools;
use super::wire::CanUseTool;
use crate::asked;

const ALLOW: &str = "allow";
const ALLOW_SESSION: &str = "allow-session";
const DENY: &str = "deny";

/// Sent to the agent when the user says no.
const REFUSED: &str =
    "The user did not allow this. Do something else, or ask what they want instead.";
const UNANSWERED: &str = "The user did not answer the question.";
const KEEP_PLANNING: &str = "The user does not approve the plan yet. Keep planning.";

pub fn ask(request: &CanUseTool, project: &Path) -> Permission {
    let name = request.tool_name.as_str();
    let questions = questions(request);
    let mut input = request.input.clone();
    if questions.as_ref().is_some_and(|all| !all.is_empty()) {
        // The form shows these.
        input.remove("questions");
    }
    let mut parts = asked::parts(&input, tools::preview(name, &input).into_iter().collect());
    if let Some(reason) = request.decision_reason.as_deref().filter(|reason| !reason.is_empty()) {
        parts.push(SourcePart::Text { text: reason.to_owned() });
    }
    Permission {
        call_id: request.tool_use_id.clone(),
        title: title(request, project),
        tool_kind: tools::kind(name),
        parts,
        options: options(request),
        takes_words: questions.is_none().then_some(true),
        questions,
        outcome: None,
        ..Permission::default()
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

/// The updates that stop the agent from asking again in this session. A change of mode would allow far more than the
/// card shows, so it is used only if nothing narrower is offered.
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
struct AskedQuestion {
    question: String,
    #[serde(default)]
    header: Option<String>,
    #[serde(default)]
    multi_select: bool,
    #[serde(default)]
    options: Vec<OfferedOption>,
}

#[derive(Deserialize)]
struct OfferedOption {
    label: String,
    #[serde(default)]
    description: Option<String>,
}

/// The questions; empty if they can't be parsed. The card then shows the raw input, and it is still a question, which
/// only the user may answer.
fn questions(request: &CanUseTool) -> Option<Vec<Question>> {
    if request.tool_name != "AskUserQuestion" {
        return None;
    }
    let asked = request.input.get("questions").map(Vec::<AskedQuestion>::deserialize);
    let asked = asked.and_then(Result::ok).unwrap_or_default();
    let question = |asked: AskedQuestion| Question {
        question: asked.question,
        header: asked.header.filter(|header| !header.is_empty()),
        options: asked
            .options
            .into_iter()
            .map(|option| QuestionOption {
                label: option.label,
                value: None,
                description: option.description,
            })
            .collect(),
        multiple: asked.multi_select,
        field: None,
    };
    Some(asked.into_iter().map(question).collect())
}

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
    let is_plan = request.tool_name == "ExitPlanMode";
    let mode = |mode: &str| json!({"type": "setMode", "mode": mode, "destination": "session"});
    Some(match answer.option_id.as_deref() {
        Some(ALLOW) => {
            if request.tool_name == "AskUserQuestion" {
                input.insert("answers".to_owned(), json!(answer.answers));
            }
            // Without this the agent goes back to the mode before the plan, which may not ask.
            allow(input, if is_plan { vec![mode("default")] } else { Vec::new() })
        }
        Some(ALLOW_SESSION) if is_plan => allow(input, vec![mode("acceptEdits")]),
        Some(ALLOW_SESSION) => match lasting(request) {
            updates if updates.is_empty() => return None,
            updates => allow(input, updates),
        },
        Some(DENY) | None => {
            let message = match (answer.message.as_deref(), request.tool_name.as_str()) {
                (Some(words), _) => words,
                (None, "AskUserQuestion") => UNANSWERED,
                (None, "ExitPlanMode") => KEEP_PLANNING,
                (None, _) => REFUSED,
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
