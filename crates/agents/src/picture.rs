//! A picture in an agent's message. Messages are text, so the picture gets its own card, like one from a tool.

use liminal_contract::ItemId;
use liminal_stream::{FinalItem, NewItem, Payload, SourcePart, ToolPatch};

/// The card, complete at once.
pub(crate) fn shown(item_id: &ItemId, mime_type: String, data: String) -> [Payload; 2] {
    let call_id = item_id.to_string();
    let about = Box::new(ToolPatch { title: Some("Picture".to_owned()), ..ToolPatch::default() });
    let name = "picture".to_owned();
    let item = NewItem::FunctionCall { name, call_id: call_id.clone(), about };
    let parts = Some(vec![SourcePart::Image { mime_type, data }]);
    let about = Box::new(ToolPatch { parts, ..ToolPatch::default() });
    let final_item =
        FinalItem::FunctionCallOutput { call_id, output: String::new(), is_error: false, about };
    [
        Payload::ItemStart { item_id: item_id.clone(), parent_call_id: None, item },
        Payload::ItemDone { item_id: item_id.clone(), final_item },
    ]
}
