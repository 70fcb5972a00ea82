//! Which answers to a permission mean no, and how answers to permissions and forms look on the wire.

use agent_client_protocol_schema::v1::{
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use liminal_contract::{Answer, AskKind, AskOption, Question};
use serde_json::{Value, json};

use crate::form;

/// The options of a form. Without an option it is cancelled, which is not the same as declined.
pub(crate) const ACCEPT: &str = "accept";
pub(crate) const DECLINE: &str = "decline";

/// What an answer must look like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    /// One of the options.
    Choice(Vec<AskOption>),
    /// The content of a form. Without questions: a page to open.
    Form(Vec<Question>),
}

impl Wanted {
    /// The `result` for an answer. `None` if it was not offered.
    pub fn result(&self, answer: &Answer) -> Option<Value> {
        let chosen = answer.option_id.as_deref();
        match (self, chosen) {
            (Self::Choice(_), None) | (Self::Form(_), None) => Some(self.cancelled()),
            (Self::Choice(options), Some(chosen)) => {
                let is_offered = options.iter().any(|option| option.option_id == chosen);
                is_offered.then(|| selected(chosen))
            }
            (Self::Form(questions), Some(ACCEPT)) if questions.is_empty() => {
                Some(json!({"action": ACCEPT}))
            }
            (Self::Form(questions), Some(ACCEPT)) => {
                let content = form::content(questions, &answer.answers).ok()?;
                Some(json!({"action": ACCEPT, "content": content}))
            }
            (Self::Form(_), Some(DECLINE)) => Some(json!({"action": DECLINE})),
            (Self::Form(_), Some(_)) => None,
        }
    }

    /// The `result` if nobody answers.
    pub fn cancelled(&self) -> Value {
        match self {
            Self::Choice(_) => {
                json!(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled))
            }
            Self::Form(_) => json!({"action": "cancel"}),
        }
    }

    /// Whether this answer rejects the call.
    pub fn refuses(&self, answer: &Answer) -> bool {
        match self {
            Self::Choice(options) => refuses(options, answer.option_id.as_deref()),
            Self::Form(_) => false,
        }
    }
}

/// Whether this answer rejects the call.
pub(crate) fn refuses(options: &[AskOption], chosen: Option<&str>) -> bool {
    let kind = options.iter().find(|option| Some(option.option_id.as_str()) == chosen);
    match kind.map(|option| option.kind) {
        Some(AskKind::RejectOnce | AskKind::RejectAlways) => true,
        Some(AskKind::AllowOnce | AskKind::AllowAlways | AskKind::Other) | None => false,
    }
}

fn selected(option: &str) -> Value {
    let selected = SelectedPermissionOutcome::new(option.to_owned());
    json!(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected)))
}
