//! The end of a text that still grows, made whole for the parser: what is open is closed, what is half there is left
//! out. So nothing flashes raw, and nothing open swallows what follows. Approximate on purpose: when the text is
//! complete, the parser alone decides.

use super::end::{Ended, Mark};
use super::inline;
use crate::markdown::write::{END, MARK};

/// A part of a text, ready to be parsed.
pub(super) struct Repaired {
    /// With [`END`] where the text ends, and [`MARK`] where it may be parted.
    pub text: String,
    /// Where it may be parted, in the part as it was.
    pub mark: Option<usize>,
    /// Where what is seen ends, if what comes next only adds to it.
    pub ended: Option<Ended>,
}

/// A fence that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    pub character: u8,
    pub length: usize,
}

impl Fence {
    /// Whether a line closes the fence.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let (run, rest) = run_of(line.trim_start_matches(' '), self.character);
        run >= self.length && rest.trim().is_empty()
    }

    /// Whether an unfinished line may become one that closes the fence.
    pub(super) fn may_be_closed_by(self, line: &str) -> bool {
        let (run, rest) = run_of(line.trim_start_matches(' '), self.character);
        run > 0 && rest.trim().is_empty()
    }
}

/// Makes the part of a text whole. `open` is the fence it starts in.
pub(super) fn repair(part: &str, open: Option<Fence>) -> Repaired {
    let mut fence = open;
    let mut leaf = 0;
    let mut kind = Leaf::Text;
    let mut at = 0;
    let last_line = part.rfind('\n').map_or(0, |at| at + 1);
    for line in part[..last_line].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let (marked, content) = content_of(line);
        if let Some(opened) = fence {
            if opened.is_closed_by(content) {
                fence = None;
                leaf = at;
            }
        } else if let Some(opened) = opens(content) {
            fence = Some(opened);
        } else if content.trim().is_empty() || content.starts_with('#') || is_rule(line) {
            leaf = at;
            kind = Leaf::Text;
        } else if content.starts_with('|') {
            leaf = at;
            kind = Leaf::Row;
        } else if marked {
            leaf = start + (line.len() - content.len());
            kind = Leaf::Text;
        }
    }
    let line = &part[last_line..];
    if let Some(fence) = fence {
        let (_, content) = content_of(line);
        return if fence.may_be_closed_by(content) {
            Repaired::cut(part, last_line)
        } else {
            Repaired::ended(part)
        };
    }
    let (marked, content) = content_of(line);
    if line.trim().is_empty() {
        // The line before may have left something open.
        let said = part[..last_line].trim_end_matches('\n');
        return if part.ends_with("\n\n") || said.len() < leaf {
            Repaired::as_it_is(part)
        } else {
            words(part, leaf.min(said.len()), said.len(), kind)
        };
    }
    if is_only_marks(line) || opens(content).is_some() || may_define(content) {
        return Repaired::cut(part, last_line);
    }
    if content.starts_with('#') || content.starts_with('|') || marked {
        leaf = last_line + (line.len() - content.len());
        kind = if content.starts_with('|') { Leaf::Row } else { Leaf::Line };
        if marked && !content.starts_with(['#', '|']) {
            kind = Leaf::Text;
        }
    }
    words(part, leaf, part.len(), kind)
}

/// What the words at the end stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaf {
    /// A paragraph, which may be parted.
    Text,
    /// A heading.
    Line,
    /// A row of a table.
    Row,
}

impl Repaired {
    fn as_it_is(part: &str) -> Self {
        Self { text: part.to_owned(), mark: None, ended: None }
    }

    fn cut(part: &str, at: usize) -> Self {
        Self::as_it_is(&part[..at])
    }

    fn ended(part: &str) -> Self {
        let mut text = String::with_capacity(part.len() + END.len_utf8());
        text.push_str(part);
        text.push(END);
        Self { text, mark: None, ended: None }
    }
}

/// Repairs the words between `from` and `to`; what follows `to` are line feeds.
fn words(part: &str, from: usize, to: usize, kind: Leaf) -> Repaired {
    let scan = inline::scan(&part[from..to]);
    let mark = scan.mark.filter(|_| kind == Leaf::Text).map(|at| from + at);
    let unfinished = to == part.len();
    // Blanks at the end are seen only when something follows.
    let said = if unfinished { part.trim_end_matches(' ').len().max(from) } else { to };
    let end = scan.cut.map_or(said, |cut| from + cut);
    let mut text = String::with_capacity(part.len() + 16);
    let mut copied = 0;
    let mut omitted = scan.omit.iter().map(|at| from + at).peekable();
    while copied < end {
        let next_omitted = omitted.peek().copied().unwrap_or(end).min(end);
        match mark.filter(|mark| (copied..next_omitted).contains(mark)) {
            Some(mark) => {
                text.push_str(&part[copied..mark]);
                text.push(MARK);
                text.push_str(&part[mark..next_omitted]);
            }
            None => text.push_str(&part[copied..next_omitted]),
        }
        copied = next_omitted;
        if omitted.peek() == Some(&next_omitted) {
            copied += 1;
            omitted.next();
        }
    }
    if unfinished {
        text.push(END);
    }
    text.push_str(&scan.closers);
    text.push_str(&part[to..]);
    let line = part[..end].rsplit('\n').next().unwrap_or_default();
    let is_whole = scan.cut.is_none() || scan.omit.is_empty();
    let ended = (unfinished && is_whole && is_settled(line)).then(|| Ended {
        taken: end,
        marks: scan.open.iter().map(|open| Mark { from: from + open.from, ..*open }).collect(),
        in_brackets: scan.in_brackets,
    });
    Repaired { text, mark, ended }
}

/// Whether a line can't become another kind of line: its first word begins with a letter, or it has such a word and a
/// blank after that.
fn is_settled(line: &str) -> bool {
    let (_, content) = content_of(line);
    if content.starts_with(char::is_alphabetic) {
        return true;
    }
    let mut words = line.split_inclusive(' ');
    words.any(|word| word.ends_with(' ') && word.starts_with(char::is_alphabetic))
}

/// What a line holds behind quote and list marks, and whether it has a list mark.
fn content_of(line: &str) -> (bool, &str) {
    let mut rest = line.trim_start_matches([' ', '\t', '>']);
    let mut marked = false;
    loop {
        let after = match rest.as_bytes() {
            [b'-' | b'*' | b'+', b' ', ..] => &rest[2..],
            [b'0'..=b'9', ..] => {
                let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                match behind.as_bytes() {
                    [b'.' | b')', b' ', ..] if rest.len() - behind.len() < 10 => &behind[2..],
                    _ => return (marked, rest),
                }
            }
            _ => return (marked, rest),
        };
        marked = true;
        rest = after.trim_start_matches([' ', '\t', '>']);
    }
}

/// Whether an unfinished line holds nothing but marks, so that what it will be is still open.
fn is_only_marks(line: &str) -> bool {
    let line = line.trim();
    line.bytes().all(|b| {
        matches!(
            b,
            b'-' | b'*'
                | b'+'
                | b'#'
                | b'>'
                | b'='
                | b'_'
                | b'|'
                | b'~'
                | b'`'
                | b':'
                | b' '
                | b'\t'
        )
    }) || line.trim_end_matches(['.', ')']).bytes().all(|b| b.is_ascii_digit()) && line.len() < 11
}

/// Whether an unfinished line may be the definition of a link, which would change words before it.
fn may_define(content: &str) -> bool {
    let behind = content.strip_prefix('[').and_then(|label| label.split_once("]:"));
    behind.is_some_and(|(_, address)| !address.trim_start().contains(' '))
}

/// Whether a finished line is a rule across the page, or the line under a heading: its marks open nothing.
fn is_rule(line: &str) -> bool {
    line.bytes().all(|b| matches!(b, b'-' | b'*' | b'_' | b' ' | b'\t' | b'\n'))
}

/// The fence a line opens.
fn opens(content: &str) -> Option<Fence> {
    let character = *content.as_bytes().first().filter(|b| matches!(b, b'`' | b'~'))?;
    let (length, rest) = run_of(content, character);
    (length >= 3 && !(character == b'`' && rest.contains('`')))
        .then_some(Fence { character, length })
}

fn run_of(text: &str, character: u8) -> (usize, &str) {
    let run = text.bytes().take_while(|b| *b == character).count();
    (run, &text[run..])
}
