//! Lines at the end of an open fence: appended as they are, without reading anything again.

use super::spine::{Kind, Place};
use super::{Change, Renderer, common_start};
use crate::code::CLOSE;
use crate::escape::{Spell, show_into};

impl Renderer {
    /// Appends what is new, if the fence stays open and its lines can be told without the parser. `None` when they
    /// can't; else what that changed.
    #[expect(clippy::option_option, reason = "not tried, or tried and nothing changed")]
    pub(super) fn append_to_fence(&mut self, text: &str) -> Option<Option<Change>> {
        let fence = self.open_fence()?;
        let Kind::Fence { offset, .. } = self.spine.last()?.kind else { return None };
        let indent = self.spine.iter().try_fold(0, |indent, level| match &level.kind {
            Kind::Item(item) => Some(indent + item.marker_offset + item.padding),
            Kind::Quote => None,
            Kind::List(_) | Kind::Table(_) | Kind::Paragraph | Kind::Fence { .. } => Some(indent),
        })?;
        // What closes the fence and all around it stands at the end of its block since it was opened.
        let block = self.blocks.len().checked_sub(1).filter(|last| *last == self.open_block)?;
        let open = self.blocks[block].get(self.html.bytes..)?;
        let closing_at = open.find(CLOSE)?;
        let (mut html, mut finished, mut tail) = (String::new(), 0, self.tail);
        for line in text[self.tail..].split_inclusive('\n') {
            let whole = line.ends_with('\n');
            let content = line.trim_end_matches(['\n', '\r']);
            let blanks = content.len() - content.trim_start_matches(' ').len();
            if blanks < indent && blanks < content.len()
                || content[..].trim_start_matches(' ').starts_with('\t')
            {
                return None;
            }
            let content = &content[indent.min(blanks)..];
            if blanks < indent + 4 {
                if whole && fence.is_closed_by(content) {
                    return None;
                }
                if !whole && fence.may_be_closed_by(content) {
                    break;
                }
            }
            let content = &content[offset.min(blanks.saturating_sub(indent))..];
            show_into(&mut html, content, Spell::Bidi);
            if whole {
                html.push('\n');
                finished = html.len();
                tail += line.len();
            }
        }
        let (same, same_units) = common_start(&open[..closing_at], &html);
        let changed = same < html.len() || same < closing_at;
        let kept = Place { bytes: self.html.bytes + same, units: self.html.units + same_units };
        let from = self.html.bytes;
        self.blocks[block].replace_range(from..from + closing_at, &html);
        self.html = self.html.after(&html[..finished]);
        self.tail = tail;
        self.end = None;
        Some(changed.then_some(Change {
            blocks_from: block,
            keep: kept.units,
            keep_bytes: kept.bytes,
        }))
    }
}
