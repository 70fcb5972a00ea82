//! Completes the end of a growing text for the parser: closes open marks and leaves out half-written ones, so that no
//! raw marks flash up and nothing open swallows the rest. Approximate on purpose: when the text is complete, the parser
//! alone decides.

use std::borrow::Cow;

use super::inline;

#[derive(Debug, Clone, Copy)]
struct Fence {
    character: u8,
    length: usize,
}

impl Fence {
    /// Whether a line closes the fence.
    fn is_closed_by(self, line: &str) -> bool {
        let (run, rest) = run_of(line.trim_start_matches(' '), self.character);
        run >= self.length && rest.trim().is_empty()
    }

    /// Whether an unfinished line may become one that closes the fence.
    fn may_be_closed_by(self, line: &str) -> bool {
        let (run, rest) = run_of(line.trim_start_matches(' '), self.character);
        run > 0 && rest.trim().is_empty()
    }
}

/// Completes the end of a text.
pub(super) fn repair(part: &str) -> Cow<'_, str> {
    let last_line = part.rfind('\n').map_or(0, |at| at + 1);
    let (fence, mut words_from) = lines_before(&part[..last_line]);
    let line = &part[last_line..];
    let (marked, content) = content_of(line);
    if let Some(fence) = fence {
        let end = if fence.may_be_closed_by(content) { last_line } else { part.len() };
        return part[..end].into();
    }
    if line.trim().is_empty() {
        // The previous line may have left something open.
        let said = part[..last_line].trim_end_matches('\n').len();
        return if part.ends_with("\n\n") || said < words_from {
            part.into()
        } else {
            words(part, words_from, said).into()
        };
    }
    if is_only_marks(line) || opens(content).is_some() || may_define(content) {
        return part[..last_line].into();
    }
    if content.starts_with(['#', '|']) || marked {
        words_from = last_line + (line.len() - content.len());
    }
    words(part, words_from, part.len()).into()
}

/// The fence that finished lines leave open, and where the text starts that the next line may continue.
fn lines_before(lines: &str) -> (Option<Fence>, usize) {
    let (mut fence, mut words_from, mut at) = (None::<Fence>, 0, 0);
    for line in lines.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let (marked, content) = content_of(line);
        if let Some(opened) = fence {
            if opened.is_closed_by(content) {
                fence = None;
                words_from = at;
            }
        } else if let Some(opened) = opens(content) {
            fence = Some(opened);
        } else if content.trim().is_empty() || content.starts_with(['#', '|']) || is_rule(line) {
            words_from = at;
        } else if marked {
            words_from = start + (line.len() - content.len());
        }
    }
    (fence, words_from)
}

/// Repairs the text between `from` and `to`; only line feeds follow it.
fn words(part: &str, from: usize, to: usize) -> String {
    let scan = inline::scan(&part[from..to]);
    // Blanks at the end are visible only if something follows.
    let said = if to == part.len() { part.trim_end_matches(' ').len().max(from) } else { to };
    let end = scan.cut.map_or(said, |cut| from + cut);
    let mut text = String::with_capacity(part.len() + scan.closers.len());
    let mut copied = 0;
    for omitted in scan.omit.iter().map(|at| from + at).take_while(|at| *at < end) {
        text.push_str(&part[copied..omitted]);
        copied = omitted + 1;
    }
    text.push_str(&part[copied..end]);
    text.push_str(&scan.closers);
    text.push_str(&part[to..]);
    text
}

/// The text of a line after quote and list marks, and whether it has a list mark.
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

/// Whether an unfinished line has only marks, so that it may still become anything.
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

/// Whether an unfinished line may become a link definition, which would change earlier text.
fn may_define(content: &str) -> bool {
    let behind = content.strip_prefix('[').and_then(|label| label.split_once("]:"));
    behind.is_some_and(|(_, address)| !address.trim_start().contains(' '))
}

/// Whether a finished line is a horizontal rule or the underline of a heading: its marks open nothing.
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
