//! The place at the end of a text where what comes next can be appended without the parser: what is open there, and how
//! the next line would go on.

use comrak::nodes::{AstNode, ListType, NodeValue};

use super::Renderer;
use super::spine::Kind;
use crate::code::CLOSE;

/// How far back the start of the last word is looked for.
const LONGEST_WORD: usize = 200;

/// Where to append, and to what.
#[derive(Debug)]
pub(super) struct End {
    /// In the HTML of the last block.
    pub place: usize,
    /// How much of the text is written. What follows waits for what comes after it.
    pub taken: usize,
    /// The emphasis and code that is open here.
    pub open: OpenMarks,
    /// What closes all the rest; it stands behind the place, from `outer_from` on.
    pub outer: String,
    pub outer_from: usize,
    pub spot: Spot,
    /// How the next line would go on with this, if that can be told without the parser.
    pub next: Option<NextLine>,
    /// Whether what is written before a blank may be left to stand for good.
    pub may_part: bool,
    /// Where the last line and the last word start in the text.
    pub line: usize,
    pub word: usize,
    /// Whether that word may be an address.
    pub is_suspect: bool,
    /// The last blank of the line where nothing is open: in the text, and in the HTML.
    pub blank: Option<(usize, usize)>,
    /// Where the fence was opened, if it is a block of its own.
    pub opened: Option<usize>,
}

/// What the words stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// Something in which only plain words are appended.
    Plain,
    Heading,
    Paragraph,
    /// A row of a table.
    Cell,
    /// An open fence, which takes so many blanks from each line for what is around it, and for itself.
    Fence {
        indent: usize,
        offset: usize,
    },
}

/// How the next line goes on.
#[derive(Debug)]
pub(super) struct NextLine {
    /// What it starts with, before a letter.
    pub prefix: String,
    /// Whether that makes a new item of the list, not another line of the paragraph.
    pub is_item: bool,
}

/// Emphasis, or code, that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Mark {
    pub character: u8,
    pub count: usize,
    /// Where it was opened, in the text.
    pub from: usize,
}

impl Mark {
    /// The element it becomes; `None` when it is not a single one.
    pub(super) fn tags(self) -> Option<(&'static str, &'static str)> {
        match (self.character, self.count) {
            (b'`', _) => Some(("<code>", "</code>")),
            (b'*' | b'_', 1) => Some(("<em>", "</em>")),
            (b'*' | b'_', 2) => Some(("<strong>", "</strong>")),
            (b'~', 1 | 2) => Some(("<del>", "</del>")),
            _ => None,
        }
    }
}

/// The marks that are open, outermost first: few, so that they can be remembered and put back at no cost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OpenMarks {
    marks: [Mark; 4],
    count: usize,
}

impl OpenMarks {
    /// Opens one more; `false` when that is too deep.
    pub(super) fn push(&mut self, mark: Mark) -> bool {
        let Some(free) = self.marks.get_mut(self.count) else { return false };
        *free = mark;
        self.count += 1;
        true
    }

    /// Closes the innermost.
    pub(super) fn pop(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    pub(super) fn last(&self) -> Option<Mark> {
        self.marks[..self.count].last().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All of them, innermost first.
    pub(super) fn inwards(&self) -> impl Iterator<Item = Mark> {
        self.marks[..self.count].iter().rev().copied()
    }
}

/// Where the repaired end of a text was written, and what was open there.
#[derive(Debug)]
pub(super) struct Ended {
    /// How much of the text is written.
    pub taken: usize,
    pub marks: Vec<Mark>,
    /// Whether a bracket is open.
    pub in_brackets: bool,
}

impl Ended {
    /// The same, told of the whole text, when it was told of a part that starts there.
    pub(super) fn behind(mut self, start: usize) -> Self {
        self.taken += start;
        for mark in &mut self.marks {
            mark.from += start;
        }
        self
    }
}

impl Renderer {
    /// Where to append after a text was read; `place` is where its words ended in the last block.
    pub(super) fn end_of_words<'a>(
        &self,
        text: &str,
        root: &'a AstNode<'a>,
        place: usize,
        ended: Ended,
    ) -> Option<End> {
        let behind = self.blocks.last()?.get(place..)?;
        let (mut spot, mut next) = spot_of(root);
        let mut open = OpenMarks::default();
        let mut outer = behind;
        for mark in &ended.marks {
            if mark.tags().is_none() || !open.push(*mark) {
                spot = Spot::Plain;
            }
        }
        for mark in open.inwards() {
            match mark.tags().and_then(|(_, close)| outer.strip_prefix(close)) {
                Some(rest) => outer = rest,
                None => spot = Spot::Plain,
            }
        }
        if ["</em>", "</strong>", "</del>", "</code>", "</a>", "</span>"]
            .iter()
            .any(|close| outer.starts_with(close))
        {
            spot = Spot::Plain;
        }
        if spot == Spot::Plain {
            // What the parser made of the marks is not what was thought: nothing is known to be open.
            (open, outer, next) = (OpenMarks::default(), behind, None);
        }
        if next.as_ref().is_some_and(|next| next.is_item) && !outer.starts_with("</li>") {
            next = None;
        }
        let taken = ended.taken;
        let before = &text.as_bytes()[..taken];
        let since = |is_there: fn(&u8) -> bool, from: usize| {
            before[from..].iter().rposition(is_there).map_or(from, |at| from + at + 1)
        };
        let word = since(u8::is_ascii_whitespace, taken.saturating_sub(LONGEST_WORD));
        let may_part = !ended.in_brackets
            && self.open_block + 1 == self.blocks.len()
            && self.parts_like(next.as_ref(), root);
        Some(End {
            place,
            taken,
            open,
            outer: outer.to_owned(),
            outer_from: 0,
            spot,
            next,
            may_part,
            line: since(|b| *b == b'\n', self.tail.min(taken)),
            word,
            is_suspect: is_suspect(&before[word..]),
            blank: None,
            opened: None,
        })
    }

    /// Where to append after a text was read that ends in an open fence.
    pub(super) fn end_of_fence(&self) -> Option<End> {
        let Kind::Fence { offset, .. } = self.spine.last()?.kind else { return None };
        let indent = self.spine.iter().try_fold(0, |indent, level| match &level.kind {
            Kind::Item(item) => Some(indent + item.marker_offset + item.padding),
            Kind::Quote => None,
            Kind::List(_) | Kind::Table(_) | Kind::Paragraph | Kind::Fence { .. } => Some(indent),
        })?;
        if self.open_block + 1 != self.blocks.len() {
            return None;
        }
        // What closes the fence and all around it stands at the end of its block since it was opened.
        let behind = self.blocks.last()?.get(self.html..)?;
        Some(End {
            place: self.html,
            taken: self.tail,
            open: OpenMarks::default(),
            outer: behind[behind.find(CLOSE)?..].to_owned(),
            outer_from: 0,
            spot: Spot::Fence { indent, offset },
            next: None,
            may_part: true,
            line: self.tail,
            word: self.tail,
            is_suspect: false,
            blank: None,
            opened: (self.spine.len() == 1).then(|| self.spine[0].source),
        })
    }

    /// Whether the innermost level is the one in which the next line would go on, so that the part that is read again
    /// can begin there.
    fn parts_like<'a>(&self, next: Option<&NextLine>, root: &'a AstNode<'a>) -> bool {
        match (self.spine.last().map(|level| &level.kind), next) {
            (Some(Kind::List(newest)), Some(next)) if next.is_item => {
                let mut lists = 0;
                let mut node = root.last_child();
                while let Some(here) = node {
                    lists += usize::from(matches!(here.data().value, NodeValue::List(_)));
                    node = here.last_child();
                }
                let known = self.spine.iter().filter(|level| matches!(level.kind, Kind::List(_)));
                known.count() == lists && newest.padding == 2
            }
            (Some(Kind::Paragraph), next) => next.is_none_or(|next| !next.is_item),
            _ => false,
        }
    }
}

/// What the last words stand in, and how the next line would go on with it.
fn spot_of<'a>(root: &'a AstNode<'a>) -> (Spot, Option<NextLine>) {
    let (mut quotes, mut items, mut indent) = (0, 0, 0);
    let mut bullet = None;
    let mut node = root.last_child();
    while let Some(here) = node {
        match &here.data().value {
            NodeValue::BlockQuote => quotes += 1,
            NodeValue::List(_) => {}
            NodeValue::Item(item) => {
                items += 1;
                let plain = item.list_type == ListType::Bullet && item.padding == 2;
                bullet = plain.then(|| {
                    let mut prefix = " ".repeat(indent + item.marker_offset);
                    prefix.push(char::from(item.bullet_char));
                    prefix.push(' ');
                    prefix
                });
                indent += item.marker_offset + item.padding;
            }
            NodeValue::TaskItem(_) => {
                items += 1;
                bullet = None;
            }
            NodeValue::Heading(heading) if !heading.setext => return (Spot::Heading, None),
            NodeValue::Table(_) => return (Spot::Cell, None),
            NodeValue::Paragraph => {
                let next = match (quotes, items) {
                    (0, 0) => Some(NextLine { prefix: String::new(), is_item: false }),
                    (1, 0) => Some(NextLine { prefix: "> ".to_owned(), is_item: false }),
                    (0, _) => bullet.map(|prefix| NextLine { prefix, is_item: true }),
                    _ => None,
                };
                return (Spot::Paragraph, next);
            }
            _ => return (Spot::Plain, None),
        }
        node = here.last_child();
    }
    (Spot::Plain, None)
}

/// Whether a word that is begun may be an address or a character reference.
fn is_suspect(word: &[u8]) -> bool {
    word.iter().any(|b| matches!(b, b'@' | b'&'))
        || word.windows(2).any(|two| two == b"//")
        || word.windows(3).any(|three| three.eq_ignore_ascii_case(b"www"))
}
