//! Words at the end of a text, with plain emphasis, code and line breaks among them: appended as they come, without
//! reading anything again. What is not certain from the words alone is left to the parser.

use super::Renderer;
use super::end::{End, Mark, NextLine, OpenMarks, Spot};
use super::inline::{self, LONG_LINE, LONGEST_CODE};
use crate::escape::{Spell, show_into};

impl Renderer {
    /// Appends what is new, if the place for it is known and nothing in it needs the parser; `false` when it does.
    pub(super) fn append(&mut self, text: &str) -> bool {
        let fence = self.open_fence();
        let (Some(html), Some(end)) = (self.blocks.last_mut(), self.end.as_mut()) else {
            return false;
        };
        let before = end.place;
        let shown = html.split_off(before);
        let mut pen = Pen {
            text,
            bytes: text.as_bytes(),
            at: end.taken,
            plain_from: end.taken,
            html,
            end,
            settled: None,
            closed: false,
        };
        let is_certain = match (pen.end.spot, fence) {
            (Spot::Fence { indent, offset }, Some(fence)) => {
                pen.lines_of_code(fence, indent, offset).is_some()
            }
            _ => pen.words().is_some(),
        };
        if !is_certain {
            // It may be a while until it is read again: till then what was shown is shown.
            html.truncate(before);
            html.push_str(&shown);
            self.end = None;
            return false;
        }
        pen.flush();
        let Pen { at, settled, closed, .. } = pen;
        (end.taken, end.place) = (at, html.len());
        if let Some((tail, place)) = settled.filter(|_| end.may_part) {
            self.tail = tail;
            self.html = place;
        }
        close(html, end.open, &end.outer[end.outer_from..]);
        if closed {
            // The block is whole; what follows it is another.
            self.end = None;
            self.begin_block();
            if self.tail < text.len() {
                self.read(text);
            }
        }
        true
    }

    fn begin_block(&mut self) {
        self.open_block += 1;
        self.spine.clear();
        self.html = 0;
        self.regrets = 0;
    }
}

fn close(html: &mut String, open: OpenMarks, outer: &str) {
    for mark in open.inwards() {
        html.push_str(mark.tags().map_or("", |(_, close)| close));
    }
    html.push_str(outer);
}

/// Writes new words behind those that are there. Its steps are `None` when only the parser knows.
pub(super) struct Pen<'t> {
    pub text: &'t str,
    pub bytes: &'t [u8],
    pub at: usize,
    /// From here on the text is to be written as it is.
    pub plain_from: usize,
    pub html: &'t mut String,
    pub end: &'t mut End,
    /// Up to where the text, and its HTML, will not change any more.
    pub settled: Option<(usize, usize)>,
    /// Whether the fence that was open is closed, with nothing to be coloured.
    pub closed: bool,
}

/// Whether there is more to write, or the rest has to wait for what follows it.
#[derive(PartialEq, Eq)]
enum Step {
    On,
    Wait,
}

impl Pen<'_> {
    /// Writes as much as is certain.
    fn words(&mut self) -> Option<()> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let step = match self.end.open.last() {
                Some(mark) if mark.character == b'`' => self.in_code(byte, mark)?,
                _ => self.in_text(byte)?,
            };
            if step == Step::Wait {
                break;
            }
        }
        Some(())
    }

    fn in_code(&mut self, byte: u8, mark: Mark) -> Option<Step> {
        match byte {
            b'`' => {
                let run = inline::run_length(self.bytes, self.at, b'`');
                if self.at + run == self.bytes.len() {
                    return Some(Step::Wait);
                }
                if run == mark.count {
                    self.flush();
                    self.leave("</code>");
                }
                self.pass(run, run == mark.count);
            }
            b'|' if self.end.spot == Spot::Cell => return None,
            0..=0x1F | 0x7F => return None,
            _ if self.at - mark.from > LONGEST_CODE => return None,
            _ => self.at += 1,
        }
        Some(Step::On)
    }

    fn in_text(&mut self, byte: u8) -> Option<Step> {
        match byte {
            b' ' => return self.blanks(),
            b'\n' => return self.line_end(),
            b'`' | b'*' | b'_' | b'~' => {
                let run = inline::run_length(self.bytes, self.at, byte);
                if self.at + run == self.bytes.len() {
                    return Some(Step::Wait);
                }
                if self.end.spot == Spot::Plain || self.end.is_suspect {
                    return None;
                }
                let mark = Mark { character: byte, count: run, from: self.at };
                if byte == b'`' { self.code(mark)? } else { self.emphasis(mark)? }
            }
            b'|' if self.end.spot == Spot::Cell => return self.next_cell(),
            b'#' if self.end.spot == Spot::Heading => return None,
            _ if is_plain(byte) && !self.end.is_suspect && !self.begins_address(byte) => {
                self.at += 1;
            }
            _ => return None,
        }
        Some(Step::On)
    }

    /// Whether this byte and the one before are how a web address begins.
    fn begins_address(&self, byte: u8) -> bool {
        let before = if self.at > 0 { self.bytes[self.at - 1] } else { b' ' };
        matches!((before, byte), (b':' | b'/', b'/') | (b'w' | b'W', b'w' | b'W'))
    }

    fn blanks(&mut self) -> Option<Step> {
        let run = inline::run_length(self.bytes, self.at, b' ');
        let Some(next) = self.bytes.get(self.at + run) else { return Some(Step::Wait) };
        match next {
            // Two are a line break.
            b'\n' if run > 1 => return None,
            b'\n' => {
                self.flush();
                self.pass(run, true);
                return Some(Step::On);
            }
            b'|' if self.end.spot == Spot::Cell => {
                self.flush();
                self.pass(run, true);
            }
            _ => {
                self.note_blank(*next);
                self.at += run;
            }
        }
        self.end.word = self.at;
        self.end.is_suspect = false;
        Some(Step::On)
    }

    /// Remembers a blank at which a paragraph can be parted. The last line may yet make it another kind of block, so
    /// that waits for the next one, unless the line is long.
    fn note_blank(&mut self, next: u8) {
        let end = &self.end;
        if !end.may_part || !end.open.is_empty() || end.next.as_ref().is_some_and(|n| n.is_item) {
            return;
        }
        let word = &self.text[end.word..self.at];
        let inside = end.word > end.line && word.len() > 1 && word.chars().all(char::is_alphabetic);
        if inside && next.is_ascii_alphanumeric() {
            self.flush();
            let blank = (self.at, self.html.len());
            self.end.blank = Some(blank);
            if self.at - self.end.line > LONG_LINE {
                self.settled = Some(blank);
            }
        }
    }

    fn line_end(&mut self) -> Option<Step> {
        let NextLine { prefix, is_item } = self.end.next.as_ref()?;
        let (prefix, is_item) = (prefix.as_bytes(), *is_item);
        let line = &self.bytes[self.at + 1..];
        let Some(first) = line.get(prefix.len()) else {
            return prefix.starts_with(line).then_some(Step::Wait);
        };
        // No line that starts with a letter is anything else than words.
        if !line.starts_with(prefix) || !first.is_ascii_alphabetic() {
            return None;
        }
        let start = self.at + 1;
        let width = 1 + prefix.len();
        if is_item {
            if !self.end.open.is_empty() {
                return None;
            }
            self.flush();
            self.html.push_str("</li>");
            self.settled = Some((start, self.html.len()));
            self.html.push_str("<li>");
        } else {
            self.flush();
            self.html.push('\n');
            self.settled = self.end.blank.take().or(self.settled);
        }
        self.pass(width, true);
        self.end.line = start;
        self.end.word = self.at;
        self.end.is_suspect = false;
        Some(Step::On)
    }

    fn code(&mut self, mark: Mark) -> Option<()> {
        // Blanks at both ends would be cut.
        let after = self.bytes[self.at + mark.count];
        if after.is_ascii_whitespace() {
            return None;
        }
        self.open(mark)
    }

    fn emphasis(&mut self, mark: Mark) -> Option<()> {
        let before = self.text[..self.at].chars().next_back()?;
        let after = self.text[self.at + mark.count..].chars().next()?;
        if [before, after].iter().any(|c| !c.is_ascii() && !c.is_alphanumeric()) {
            return None;
        }
        match inline::flanks(mark.character, mark.count, Some(before), after) {
            (false, false) => {
                self.at += mark.count;
                Some(())
            }
            (true, false) => {
                let known =
                    |open: Mark| open.character == mark.character && open.count == mark.count;
                if self.end.open.inwards().any(known) { None } else { self.open(mark) }
            }
            (false, true) => {
                let open = self.end.open.last()?;
                if (open.character, open.count) != (mark.character, mark.count) {
                    return None;
                }
                self.flush();
                self.leave(open.tags()?.1);
                self.pass(mark.count, true);
                Some(())
            }
            (true, true) => None,
        }
    }

    fn open(&mut self, mark: Mark) -> Option<()> {
        let (tag, _) = mark.tags()?;
        self.flush();
        if !self.end.open.push(mark) {
            return None;
        }
        self.html.push_str(tag);
        self.pass(mark.count, true);
        Some(())
    }

    /// Goes behind the end of the innermost element.
    fn leave(&mut self, tag: &str) {
        self.end.open.pop();
        self.html.push_str(tag);
    }

    fn next_cell(&mut self) -> Option<Step> {
        if !self.end.open.is_empty() {
            return None;
        }
        let outer = &self.end.outer[self.end.outer_from..];
        let cell = outer.strip_prefix("</td>").filter(|rest| rest.starts_with("<td"))?;
        let width = outer.len() - cell.len() + cell.find('>')? + 1;
        self.flush();
        let from = self.end.outer_from;
        self.html.push_str(&self.end.outer[from..from + width]);
        self.end.outer_from += width;
        let blanks = inline::run_length(self.bytes, self.at + 1, b' ');
        self.pass(1 + blanks, true);
        self.end.word = self.at;
        self.end.is_suspect = false;
        Some(Step::On)
    }

    /// Goes on by so many bytes, which were dealt with, or else are plain.
    fn pass(&mut self, bytes: usize, were_dealt_with: bool) {
        self.at += bytes;
        if were_dealt_with {
            self.plain_from = self.at;
        }
    }

    /// Writes the plain text up to here.
    pub(super) fn flush(&mut self) {
        if self.plain_from == self.at {
            return;
        }
        let is_code = self.end.open.last().is_some_and(|mark| mark.character == b'`');
        let is_prose = !is_code && !matches!(self.end.spot, Spot::Plain | Spot::Fence { .. });
        let spell = if is_prose { Spell::Controls } else { Spell::Bidi };
        show_into(self.html, &self.text[self.plain_from..self.at], spell);
        self.plain_from = self.at;
    }
}

/// Whether a byte means nothing to the parser in the middle of a line.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80..
        | b',' | b'.' | b';' | b':' | b'\'' | b'"' | b'(' | b')' | b'/' | b'!' | b'?' | b'-' | b'+' | b'=' | b'%' | b'$' | b'#' | b'{' | b'}' | b'^' | b'>')
}
