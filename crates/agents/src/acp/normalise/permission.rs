//! Permissions: the card for an agent's request, and how it is settled.

use liminal_contract::{AskKind, AskOption, ItemId, Location, Outcome, Timestamp, ToolKind};
use liminal_stream::{Field, FinalItem, NewItem, Payload, Permission, SourcePart};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Normaliser;
use super::call::RequestedCall;
use crate::{Output, asked};

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
        self.forget_document_of(request.tool_call);
        self.show_document(at, out);
        let (call_id, asked) = self.asked_call(request.tool_call, at, out)?;
        let turn = self.turn_for(None, at, out);
        self.close_text(at, out);
        let options: Vec<_> = request.options.into_iter().map(Offered::option).collect();
        let ask = Permission {
            call_id: Some(call_id),
            title: asked.title.clone(),
            tool_kind: asked.kind,
            parts: shown(asked),
            options: options.clone(),
            ..Permission::default()
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

/// An option on the wire; an unknown kind does not invalidate the permission.
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

/// Everything the user must see to decide: all that the agent shows about the call.
fn shown(asked: RequestedCall) -> Vec<SourcePart> {
    let RequestedCall { kind, mut content, locations, arguments, .. } = asked;
    if kind == ToolKind::SwitchMode
        && let Some(plan) = arguments.get("plan").and_then(Value::as_str)
    {
        content.push(SourcePart::Text { text: plan.to_owned() });
    }
    let mut parts = asked::parts(&arguments, content);
    let files: Vec<Field> =
        locations.iter().filter(|location| !is_named(location, &parts)).map(file).collect();
    if !files.is_empty() {
        parts.push(SourcePart::Fields { fields: files });
    }
    parts
}

fn file(Location { path, line }: &Location) -> Field {
    let value = match line {
        Some(line) => format!("{path}:{line}"),
        None => path.clone(),
    };
    Field { name: "File".to_owned(), value }
}

/// Whether the card names the file already.
fn is_named(location: &Location, parts: &[SourcePart]) -> bool {
    parts.iter().any(|part| match part {
        SourcePart::Diff { path, .. } => *path == location.path,
        SourcePart::Fields { fields } => fields.iter().any(|field| field.value == location.path),
        _ => false,
    })
}
