//! The containers that are open at the end of a text, and how far into them it is already written. From these a short
//! stand-in for all that was written can be made, so that only the rest is read again, in its right place.

use comrak::nodes::{AstNode, ListDelimType, ListType, NodeList, NodeValue, TableAlignment};

use super::lines::Lines;
use crate::markdown::write::{Resume, START, Written};

/// One open node: what it is, where its first line starts in the text, and where it starts in the HTML.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub kind: Kind,
    pub source: usize,
    pub html: usize,
}

/// What can be open.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A list, with its newest item and whether it is tight.
    List(NodeList),
    Item(NodeList),
    Quote,
    Table(Vec<TableAlignment>),
    Paragraph,
    Fence {
        character: u8,
        length: usize,
        offset: usize,
    },
}

impl Kind {
    fn of<'a>(node: &'a AstNode<'a>) -> Option<Self> {
        Some(match &node.data().value {
            // The next item is read against the newest, so that is the one to remember.
            NodeValue::List(list) => {
                match node.last_child().map(|item| item.data().value.clone()) {
                    Some(NodeValue::Item(item)) => {
                        Self::List(NodeList { tight: list.tight, ..item })
                    }
                    _ => Self::List(*list),
                }
            }
            NodeValue::Item(list) => Self::Item(*list),
            NodeValue::TaskItem(_) => match node.parent().map(|list| list.data().value.clone()) {
                Some(NodeValue::List(list)) => Self::Item(list),
                _ => return None,
            },
            NodeValue::BlockQuote => Self::Quote,
            NodeValue::Table(table) => Self::Table(table.alignments.clone()),
            NodeValue::Paragraph => Self::Paragraph,
            NodeValue::CodeBlock(code) if code.fenced && !code.closed => Self::Fence {
                character: code.fence_char,
                length: code.fence_length,
                offset: code.fence_offset,
            },
            _ => return None,
        })
    }

    /// Whether a node that stands for this one still is one. A list that was tight and is no longer, is not: what is
    /// already written of it would have to change.
    fn is_still(&self, value: &NodeValue) -> bool {
        match (self, value) {
            (Self::List(before), NodeValue::List(now)) => {
                before.list_type == now.list_type && (now.tight || !before.tight)
            }
            (Self::Item(_), NodeValue::Item(_))
            | (Self::Quote, NodeValue::BlockQuote)
            | (Self::Paragraph, NodeValue::Paragraph)
            | (Self::Table(_), NodeValue::Table(_)) => true,
            (Self::Fence { .. }, NodeValue::CodeBlock(code)) => !code.closed,
            _ => false,
        }
    }
}

/// Markdown that opens all levels again, and how the writer finds the end of it.
pub(super) fn stand_in(spine: &[Level]) -> (String, Resume) {
    let (mut first, mut next) = (String::new(), String::new());
    for level in spine {
        match &level.kind {
            Kind::Quote => {
                first.push_str("> ");
                next.push_str("> ");
            }
            Kind::Item(item) => {
                marker(&mut first, item);
                next.extend(std::iter::repeat_n(' ', item.marker_offset + item.padding));
            }
            Kind::List(_) | Kind::Table(_) | Kind::Paragraph | Kind::Fence { .. } => {}
        }
    }
    let resume = match spine.last().map(|level| &level.kind) {
        None => return (String::new(), Resume::Nothing),
        Some(Kind::Quote | Kind::Item(_)) => {
            first.push_str("#\n");
            Resume::Heading
        }
        Some(Kind::List(item)) => {
            marker(&mut first, item);
            first.push_str("#\n");
            Resume::Item
        }
        Some(Kind::Table(alignments)) => {
            first.push_str(&"|a".repeat(alignments.len()));
            first.push_str("|\n");
            first.push_str(&next);
            for alignment in alignments {
                first.push_str(match alignment {
                    TableAlignment::None => "|-",
                    TableAlignment::Left => "|:-",
                    TableAlignment::Center => "|:-:",
                    TableAlignment::Right => "|-:",
                });
            }
            first.push_str("|\n");
            Resume::TableHead
        }
        Some(Kind::Paragraph) => {
            first.push(START);
            Resume::Text
        }
        Some(Kind::Fence { character, length, offset }) => {
            first.extend(std::iter::repeat_n(' ', *offset));
            first.extend(std::iter::repeat_n(char::from(*character), *length));
            first.push('\n');
            Resume::Fence
        }
    };
    (first, resume)
}

/// A list marker as wide as the item's own.
fn marker(line: &mut String, item: &NodeList) {
    line.extend(std::iter::repeat_n(' ', item.marker_offset));
    match item.list_type {
        ListType::Bullet => {
            line.push(char::from(item.bullet_char));
            line.extend(std::iter::repeat_n(' ', item.padding.saturating_sub(1).max(1)));
        }
        ListType::Ordered => {
            line.push('1');
            line.extend(std::iter::repeat_n('0', item.padding.saturating_sub(3).min(8)));
            line.push(if item.delimiter == ListDelimType::Paren { ')' } else { '.' });
            line.push(' ');
        }
    }
}

/// Makes the tree that was read through a stand-in agree with what is known of the levels; the first level that is no
/// longer what it was is handed back.
pub(super) fn agree<'a>(root: &'a AstNode<'a>, spine: &[Level]) -> Result<(), usize> {
    let mut node = root.first_child();
    for (depth, level) in spine.iter().enumerate() {
        let Some(here) = node else { return Err(depth) };
        if !level.kind.is_still(&here.data().value) {
            return Err(depth);
        }
        if let (Kind::List(before), NodeValue::List(now)) =
            (&level.kind, &mut here.data_mut().value)
        {
            now.tight = before.tight;
        }
        node = here.first_child();
    }
    Ok(())
}

/// How far a text is written for good.
#[derive(Debug)]
pub(super) struct Frozen {
    /// What is open there.
    pub spine: Vec<Level>,
    /// Where the part that is read again starts in the text.
    pub tail: usize,
    /// Where its HTML starts in its block.
    pub html: usize,
    /// How many of the top-level blocks that were read are finished.
    pub finished: usize,
}

/// What was read: the tree, what was written of it, and where it came from.
pub(super) struct Read<'a, 'r> {
    pub root: &'a AstNode<'a>,
    pub written: &'r [Written],
    pub lines: &'r Lines,
    /// The levels it was read under, and where the HTML of the first block stood.
    pub spine: &'r [Level],
    pub html: usize,
    /// Where in the text its last paragraph may be parted.
    pub mark: Option<usize>,
}

impl<'a> Read<'a, '_> {
    /// Goes down along what is still open, and finds how much of it can't change any more. `None` when nothing can be
    /// said that was not known before.
    pub(super) fn freeze(&self) -> Option<Frozen> {
        let mut best = None;
        let mut spine: Vec<Level> = Vec::new();
        let mut parent = self.root;
        let mut block = 0;
        // A node on the last line, while that is unfinished, may still become another.
        while let Some((place, child)) = self.settled_child(parent) {
            if spine.is_empty() {
                block = place;
            }
            let written = &self.written[block];
            let Some(html) = written.place(child) else { return best };
            let first_line = child.data().sourcepos.start.line;
            let source = self.lines.source(first_line);
            let beside_parent =
                !spine.is_empty() && parent.data().sourcepos.start.line == first_line;
            if let Some(source) = source
                && !beside_parent
            {
                best = Some(Frozen {
                    spine: spine.clone(),
                    tail: source,
                    html: self.place(block, html.start),
                    finished: block,
                });
            }
            if let Some(tail) = self.end_of(child) {
                let (html, finished) = if spine.is_empty() {
                    (0, block + 1)
                } else {
                    (self.place(block, html.end), block)
                };
                return Some(Frozen { spine, tail, html, finished });
            }
            let Some(kind) = Kind::of(child) else { return best };
            let level = match source {
                Some(source) => Level { kind, source, html: self.place(block, html.start) },
                None => match self.spine.get(spine.len()) {
                    Some(known) => Level { kind, ..known.clone() },
                    // The stand-in itself.
                    None => return best,
                },
            };
            spine.push(level);
            match spine.last().map(|level| &level.kind) {
                Some(Kind::Paragraph) => {
                    if let (Some(tail), Some(at)) = (self.mark, written.mark)
                        && (html.start..html.end).contains(&at)
                    {
                        return Some(Frozen {
                            spine,
                            tail,
                            html: self.place(block, at),
                            finished: block,
                        });
                    }
                    return best;
                }
                Some(Kind::Fence { .. }) => {
                    let Some(tail) = self.lines.source(self.lines.unfinished()) else {
                        return best;
                    };
                    let Some(end) = written.end else { return best };
                    // The unfinished line is all that follows the last line feed; the code before it stays.
                    let from = if source.is_some() { html.start } else { written.start };
                    let Some(at) = written.html[from..end].rfind('\n') else { return best };
                    return Some(Frozen {
                        spine,
                        tail,
                        html: self.place(block, from + at + 1),
                        finished: block,
                    });
                }
                _ => parent = child,
            }
        }
        best
    }

    /// The last child that stands on a finished line, and its number.
    fn settled_child(&self, parent: &'a AstNode<'a>) -> Option<(usize, &'a AstNode<'a>)> {
        let unfinished = self.lines.unfinished();
        parent
            .children()
            .enumerate()
            .take_while(|(_, child)| child.data().sourcepos.start.line < unfinished)
            .last()
    }

    /// Where the text goes on after a node that nothing can be added to any more.
    fn end_of(&self, node: &'a AstNode<'a>) -> Option<usize> {
        let data = node.data();
        let last = data.sourcepos.end.line;
        self.lines.source(last)?;
        let closed = match &data.value {
            NodeValue::CodeBlock(code) => code.fenced && code.closed,
            NodeValue::Heading(heading) => !heading.setext,
            NodeValue::ThematicBreak | NodeValue::TableRow(false) => true,
            NodeValue::Paragraph | NodeValue::Table(_) => self.lines.is_blank(last + 1),
            _ => false,
        };
        if closed && last < self.lines.unfinished() { self.lines.source(last + 1) } else { None }
    }

    /// A place in the HTML of a block that was written, as a place in the whole HTML of it.
    fn place(&self, block: usize, at: usize) -> usize {
        if block == 0 { self.html + at.saturating_sub(self.written[0].start) } else { at }
    }
}
