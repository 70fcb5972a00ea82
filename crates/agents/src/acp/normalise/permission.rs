//! Permissions: the card an agent's question becomes, and how it is settled.

use liminal_contract::{AskKind, AskOption, ItemId, Outcome, Timestamp};
use liminal_stream::{Ask, FinalItem, NewItem, Payload, SourcePart};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Normaliser;
use super::call::Call;
use crate::Output;

impl Normaliser {
    pub(super) fn permission(
        &mut self,
        raw: &RawValue,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(ItemId, Vec<AskOption>), serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Request<'a> {
            #[serde(borrow)]
            tool_call: &'a RawValue,
            options: Vec<Offered>,
        }
        let request: Request<'_> = serde_json::from_str(raw.get())?;
        let call_id = self.asked_call(request.tool_call, at, out)?;
        let turn = self.turn_for(None, at, out);
        self.close_text(at, out);
        let options: Vec<_> = request.options.into_iter().map(Offered::option).collect();
        let (title, tool_kind, parts) = match self.calls.get(&call_id) {
            Some(call) => (call.title.clone(), call.kind, shown(call)),
            None => Default::default(),
        };
        let ask = Ask {
            call_id: Some(call_id),
            title,
            tool_kind,
            parts,
            options: options.clone(),
            questions: None,
            outcome: None,
        };
        let item_id = ItemId::ask(&turn, self.count(|open| &mut open.asks));
        let item = NewItem::Permission { ask: Box::new(ask) };
        let start = Payload::ItemStart { item_id: item_id.clone(), parent_call_id: None, item };
        self.emit(&turn, start, at, out);
        Ok((item_id, options))
    }

    pub(super) fn settled(
        &mut self,
        item_id: ItemId,
        outcome: Outcome,
        refused: Option<&str>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let Some(turn) = self.turn().cloned() else { return };
        let final_item = FinalItem::Permission { outcome };
        self.emit(&turn, Payload::ItemDone { item_id, final_item }, at, out);
        if let Some(call) = refused {
            self.refuse_call(call, at, out);
        }
    }
}

/// The call a `session/request_permission` is about.
pub(crate) fn call_of(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Request {
        tool_call: Call,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Call {
        tool_call_id: String,
    }
    serde_json::from_str::<Request>(raw.get()).ok().map(|request| request.tool_call.tool_call_id)
}

/// An option as the wire has it; a kind we don't know does not cost the question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offered {
    option_id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    kind: Value,
}

impl Offered {
    fn option(self) -> AskOption {
        let kind = match self.kind.as_str() {
            Some("allow_once") => AskKind::AllowOnce,
            Some("allow_always") => AskKind::AllowAlways,
            Some("reject_once") => AskKind::RejectOnce,
            Some("reject_always") => AskKind::RejectAlways,
            _ => AskKind::Other,
        };
        let name = if self.name.is_empty() { self.option_id.clone() } else { self.name };
        AskOption { option_id: self.option_id, name, kind }
    }
}

/// What the user must see to decide: the change, or the command, or else all arguments.
fn shown(call: &Call) -> Vec<SourcePart> {
    if !call.parts.is_empty() {
        return call.parts.clone();
    }
    let code = |text: String, language: &str| {
        vec![SourcePart::Code { text, language: Some(language.to_owned()) }]
    };
    match command(&call.arguments) {
        Some(command) => code(command, "sh"),
        None if call.arguments.is_empty() => Vec::new(),
        None => match serde_json::to_string_pretty(&call.arguments) {
            Ok(text) => code(text, "json"),
            Err(_) => Vec::new(),
        },
    }
}

fn command(arguments: &Map<String, Value>) -> Option<String> {
    match arguments.get("command")? {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
            Some(words?.join(" "))
        }
        _ => None,
    }
}
