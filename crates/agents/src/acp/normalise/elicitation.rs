//! Elicitations: an agent's form, or a page that it asks the user to open, as a card.

use liminal_contract::{AskKind, AskOption, ItemId, Question, Severity, Timestamp, ToolKind};
use liminal_stream::{NewItem, Notice, Payload, Permission, SourcePart};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::Normaliser;
use crate::acp::permissions::{ACCEPT, DECLINE};
use crate::{Output, form};

/// In characters. A longer message is shown in full below its first line.
const LONGEST_TITLE: usize = 160;

impl Normaliser {
    /// `raw` is the `params` of an `elicitation/create`. Returns its item and its questions.
    pub fn elicit(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
    ) -> Result<(ItemId, Vec<Question>, Vec<Output>), serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Request<'a> {
            mode: String,
            #[serde(default)]
            message: String,
            tool_call_id: Option<String>,
            #[serde(borrow)]
            requested_schema: Option<&'a RawValue>,
            url: Option<String>,
        }
        let request: Request<'_> = serde_json::from_str(raw.get())?;
        let (questions, url) = match (&request.mode[..], request.requested_schema, request.url) {
            ("form", Some(schema), _) => (form::questions(schema)?, None),
            ("url", _, Some(url)) if is_page(&url) => (Vec::new(), Some(url)),
            ("url", _, Some(_)) => return Err(serde_json::Error::custom("not an http address")),
            (mode, _, _) => {
                return Err(serde_json::Error::custom(format!("an invalid {mode} elicitation")));
            }
        };
        let mut out = Vec::new();
        self.end_call(at, &mut out);
        self.show_document(at, &mut out);
        let turn = self.turn_for(None, at, &mut out);
        self.close_text(at, &mut out);
        let option = |id: &str, name: &str, kind| {
            let (option_id, name) = (id.to_owned(), name.to_owned());
            AskOption { option_id, name, kind }
        };
        let accept = if url.is_some() { "Open the page" } else { "Send" };
        let (title, parts) = in_title(&request.message);
        let ask = Permission {
            call_id: request.tool_call_id,
            title,
            tool_kind: ToolKind::Other,
            parts,
            options: vec![
                option(ACCEPT, accept, AskKind::AllowOnce),
                option(DECLINE, "Decline", AskKind::RejectOnce),
            ],
            questions: Some(questions.clone()),
            url,
            dismissible: Some(true),
            takes_words: None,
            outcome: None,
        };
        let item_id = ItemId::ask(&turn, self.count(|open| &mut open.asks));
        let item = NewItem::Permission { ask: Box::new(ask) };
        let start = Payload::ItemStart { item_id: item_id.clone(), parent_call_id: None, item };
        self.emit(&turn, start, at, &mut out);
        Ok((item_id, questions, out))
    }
}

impl Normaliser {
    pub fn form_refused(&mut self, why: &str, at: Timestamp) -> Vec<Output> {
        let mut out = Vec::new();
        let text =
            format!("The agent asked with a form that can't be shown ({why}). It was told so.");
        let severity = Severity::Warning;
        self.say(Notice { severity, text, actions: Vec::new(), details: None }, at, &mut out);
        out
    }
}

/// The page opens nothing else: any other scheme could start a program.
fn is_page(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// The title of a message, and the message itself if the title is not all of it.
fn in_title(message: &str) -> (String, Vec<SourcePart>) {
    let message = message.trim();
    let first = message.lines().next().unwrap_or("The agent asks for your input.");
    if first.chars().count() <= LONGEST_TITLE {
        let rest = message[first.len().min(message.len())..].trim();
        let parts = (!rest.is_empty()).then(|| SourcePart::Text { text: rest.to_owned() });
        return (first.to_owned(), parts.into_iter().collect());
    }
    let title = "The agent asks for your input.".to_owned();
    (title, vec![SourcePart::Text { text: message.to_owned() }])
}
