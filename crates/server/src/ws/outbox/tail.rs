//! What came after what was sent last: the difference between two states of a growing item.

use liminal_contract::{Body, ServerMessage, UpsertObject};
use liminal_render::{common_start, units};

/// A `session:tail` that brings a browser from one state to the next, where the item only grew at its end. `None`
/// where there is any doubt: then the whole is sent.
pub fn between(before: &UpsertObject, after: &UpsertObject, seq: u64) -> Option<ServerMessage> {
    let (old, old_blocks) = text(&before.body)?;
    let (new, new_blocks) = text(&after.body)?;
    let added = new.strip_prefix(old)?;
    if std::mem::discriminant(&before.body) != std::mem::discriminant(&after.body) {
        return None;
    }
    let same = old_blocks.iter().zip(new_blocks).take_while(|(old, new)| old == new).count();
    let (keep, blocks) = match (old_blocks.get(same), new_blocks.get(same)) {
        (Some(old), Some(new)) => {
            let (kept, keep) = common_start(old, new);
            let mut blocks = new_blocks[same..].to_vec();
            blocks[0] = new[kept..].to_owned();
            (keep as u64, blocks)
        }
        _ => (0, new_blocks[same..].to_vec()),
    };
    Some(ServerMessage::SessionTail {
        session_id: after.session_id.clone(),
        item_id: after.item_id.clone(),
        seq,
        from: units(old) as u64,
        text: added.to_owned(),
        blocks_from: same as u64,
        keep,
        blocks,
    })
}

/// The text of an item that grows at its end, with its blocks.
fn text(body: &Body) -> Option<(&str, &[String])> {
    match body {
        Body::Message { content, blocks, .. } | Body::Thinking { content, blocks, .. } => {
            Some((content, blocks))
        }
        Body::ToolCall { .. }
        | Body::Plan { .. }
        | Body::Permission { .. }
        | Body::Notice { .. } => None,
    }
}
