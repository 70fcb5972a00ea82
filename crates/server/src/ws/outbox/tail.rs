//! What came after what was sent last: the difference between two states of a growing item.

use liminal_contract::{Body, ServerMessage, UpsertObject};

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
            let kept = common_prefix(old, new);
            let mut blocks = new_blocks[same..].to_vec();
            blocks[0] = new[kept..].to_owned();
            (units(&new[..kept]), blocks)
        }
        _ => (0, new_blocks[same..].to_vec()),
    };
    Some(ServerMessage::SessionTail {
        session_id: after.session_id.clone(),
        item_id: after.item_id.clone(),
        seq,
        from: units(old),
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

/// How many bytes two texts share at their beginning, cut at a character.
fn common_prefix(one: &str, other: &str) -> usize {
    let mut shared = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}

/// How long a text is to a browser, in UTF-16 units: one for each character, two for those of four bytes. Counted by
/// bytes, because it is done for all of a growing text each time it grows.
fn units(text: &str) -> u64 {
    let begins = |byte: u8| byte & 0xC0 != 0x80;
    text.bytes().map(|byte| u64::from(begins(byte)) + u64::from(byte >= 0xF0)).sum()
}

#[cfg(test)]
mod tests {
    use super::units;

    #[test]
    fn a_text_is_as_long_as_a_browser_counts_it() {
        for text in ["", "a", "é", "日本", "🦀", "a\u{301}🦀é\u{10ffff}\u{ffff}\u{7ff}\u{800}"]
        {
            assert_eq!(units(text), text.encode_utf16().count() as u64, "{text:?}");
        }
    }
}
