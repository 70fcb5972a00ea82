//! What is open at the end of the words of a paragraph: emphasis, code, a link. One pass, a simplification of what the
//! parser does.

use super::end::Mark;

/// How far back an opened bracket may still become a link.
const LONGEST_LINK_TEXT: usize = 300;

/// Code between ticks that is not closed within this never will be, it seems.
pub(super) const LONGEST_CODE: usize = LONGEST_LINK_TEXT * 4;

/// Marks that are open inside each other beyond this are text: each closing one is held against all of them.
const MOST_OPEN: usize = 64;

/// A line longer than this may be parted before it is finished.
pub(super) const LONG_LINE: usize = 300;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// What closes what is open.
    pub closers: String,
    /// From here on, what is there is only half of something.
    pub cut: Option<usize>,
    /// Single bytes to leave out, ascending: the brackets of links that are not whole.
    pub omit: Vec<usize>,
    /// A blank where nothing is open.
    pub mark: Option<usize>,
    /// The emphasis and code that is open, outermost first.
    pub open: Vec<Mark>,
    /// Whether a bracket is open.
    pub in_brackets: bool,
}

/// Reads the words of a paragraph up to where they end for now.
pub(super) fn scan(words: &str) -> Scan {
    let mut scanner = Scanner {
        words,
        bytes: words.as_bytes(),
        at: 0,
        open: Vec::new(),
        brackets: Vec::new(),
        found: Scan::default(),
    };
    scanner.run();
    scanner.found
}

struct Scanner<'w> {
    words: &'w str,
    bytes: &'w [u8],
    at: usize,
    open: Vec<Mark>,
    /// Where each bracket opened, and whether an exclamation mark stands before it.
    brackets: Vec<(usize, bool)>,
    found: Scan,
}

impl Scanner<'_> {
    fn run(&mut self) {
        let last_line = self.words.rfind('\n').map_or(0, |at| at + 1);
        let may_part_last = self.words.len() - last_line > LONG_LINE;
        let (mut line_start, mut word_start) = (0, 0);
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' if self.at + 1 == self.bytes.len() => return self.cut_at(self.at),
                b'\\' => self.at += 1 + char_len(self.bytes[self.at + 1]),
                b'`' => {
                    if !self.code() {
                        return;
                    }
                }
                b'<' => self.skip_tag(),
                b'*' | b'_' | b'~' => {
                    if !self.emphasis(byte) {
                        return;
                    }
                }
                b'[' => {
                    let image = self.at > 0 && self.bytes[self.at - 1] == b'!';
                    self.brackets.push((self.at, image));
                    self.at += 1;
                }
                b']' => {
                    if !self.bracket() {
                        return;
                    }
                }
                b' ' => {
                    let word = &self.words[word_start..self.at];
                    let whole_line = self.at < last_line || may_part_last;
                    let inside = word_start > line_start
                        && word.len() > 1
                        && word.chars().all(char::is_alphabetic);
                    let goes_on =
                        self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_alphanumeric);
                    if whole_line
                        && inside
                        && goes_on
                        && self.open.is_empty()
                        && self.brackets.is_empty()
                    {
                        self.found.mark = Some(self.at);
                    }
                    self.at += 1;
                    word_start = self.at;
                }
                b'\n' => {
                    self.at += 1;
                    (line_start, word_start) = (self.at, self.at);
                }
                _ => self.at += 1,
            }
        }
        self.close_all();
    }

    /// Closes what is still open at the end.
    fn close_all(&mut self) {
        self.found.in_brackets |= !self.brackets.is_empty();
        for (at, image) in std::mem::take(&mut self.brackets) {
            let after = &self.bytes[at + 1..];
            let is_task = at == 0 && matches!(after, [] | [b' ' | b'x' | b'X', ..]);
            let follows_word = !image && at > 0 && self.bytes[at - 1].is_ascii_alphanumeric();
            if after.len() <= LONGEST_LINK_TEXT && !is_task && !follows_word {
                if image {
                    self.found.omit.push(at - 1);
                }
                self.found.omit.push(at);
            }
        }
        self.found.open = std::mem::take(&mut self.open);
        for open in self.found.open.iter().rev() {
            self.found.closers.extend(std::iter::repeat_n(char::from(open.character), open.count));
        }
    }

    fn cut_at(&mut self, at: usize) {
        self.found.cut = Some(at);
        // Marks that the cut leaves at the end stand for nothing either.
        self.close_all();
    }

    /// Passes a code span; `false` when it is open and the scan is over.
    fn code(&mut self) -> bool {
        let ticks = run_length(self.bytes, self.at, b'`');
        let from = self.at + ticks;
        let mut at = from;
        while at < self.bytes.len().min(from + LONGEST_LINK_TEXT * 8) {
            if self.bytes[at] != b'`' {
                at += 1;
                continue;
            }
            let closing = run_length(self.bytes, at, b'`');
            if closing == ticks {
                self.at = at + closing;
                return true;
            }
            at += closing;
        }
        if from == self.bytes.len() {
            self.cut_at(self.at);
            return false;
        }
        if self.bytes.len() - from > LONGEST_CODE {
            // Never closed, it seems: only a tick.
            self.at = from;
            return true;
        }
        // Half of the closing ticks may be there.
        let trailing = self.bytes.iter().rev().take_while(|b| **b == b'`').count();
        if trailing > 0 && trailing < ticks {
            self.found.cut = Some(self.bytes.len() - trailing);
        }
        self.close_all();
        self.found.closers.insert_str(0, &"`".repeat(ticks));
        self.found.open.push(Mark { character: b'`', count: ticks, from: self.at });
        false
    }

    /// Passes `<…>`, inside which nothing is emphasis.
    fn skip_tag(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        let end =
            rest.iter().take(LONGEST_LINK_TEXT).position(|b| matches!(b, b'>' | b'<' | b'\n'));
        self.at += match end {
            Some(end) if rest[end] == b'>' => end + 2,
            _ => 1,
        };
    }

    /// Takes a run of emphasis marks; `false` when the scan is over.
    fn emphasis(&mut self, character: u8) -> bool {
        let mut count = run_length(self.bytes, self.at, character);
        let before = self.words[..self.at].chars().next_back();
        let after = self.words[self.at + count..].chars().next();
        let start = self.at;
        self.at += count;
        let Some(after) = after else {
            // At the very end: a closing run, or half of one, or the start of what is not there yet. What it means
            // depends on what follows; until then all that is open is closed anyway.
            self.cut_at(start);
            return false;
        };
        let (opens, closes) = flanks(character, count, before, after);
        while closes && count > 0 {
            let Some(at) = self.open.iter().rposition(|open| open.character == character) else {
                break;
            };
            self.open.truncate(at + 1);
            let Some(open) = self.open.last_mut() else { break };
            let taken = open.count.min(count);
            open.count -= taken;
            count -= taken;
            if open.count == 0 {
                self.open.pop();
            }
        }
        if opens && count > 0 && self.open.len() < MOST_OPEN {
            self.open.push(Mark { character, count, from: start });
        }
        true
    }

    /// Takes a closing bracket; `false` when what it closes is half a link and the scan is over.
    fn bracket(&mut self) -> bool {
        let close = self.at;
        self.at += 1;
        let Some((from, image)) = self.brackets.pop() else { return true };
        let whole = match self.bytes.get(self.at) {
            None => false,
            Some(b'(') => self.pass(b'(', b')'),
            Some(b'[') => self.pass(b'[', b']'),
            Some(_) => return true,
        };
        if whole {
            return true;
        }
        let is_task = from == 0 && close == 2;
        if !is_task && self.bytes.len() - from <= LONGEST_LINK_TEXT * 8 {
            self.found.cut = Some(close);
            self.found.in_brackets = true;
            self.close_all();
            if image {
                self.found.omit.push(from - 1);
            }
            self.found.omit.push(from);
            self.found.omit.sort_unstable();
            return false;
        }
        true
    }

    /// Passes what stands in brackets; `false`, without moving, when it is not closed.
    fn pass(&mut self, open: u8, close: u8) -> bool {
        let mut depth = 0_usize;
        for (at, byte) in self.bytes.iter().enumerate().skip(self.at).take(LONGEST_LINK_TEXT * 8) {
            if *byte == open {
                depth += 1;
            } else if *byte == close {
                depth -= 1;
                if depth == 0 {
                    self.at = at + 1;
                    return true;
                }
            }
        }
        false
    }
}

/// How many of the same byte follow each other.
pub(super) fn run_length(bytes: &[u8], from: usize, byte: u8) -> usize {
    bytes[from..].iter().take_while(|b| **b == byte).count()
}

/// Whether a run of emphasis marks between two characters can open, and whether it can close.
pub(super) fn flanks(
    character: u8,
    count: usize,
    before: Option<char>,
    after: char,
) -> (bool, bool) {
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_mark = |c: Option<char>| c.is_some_and(|c| c.is_ascii_punctuation());
    let after = Some(after);
    let left = !is_blank(after) && (!is_mark(after) || is_blank(before) || is_mark(before));
    let right = !is_blank(before) && (!is_mark(before) || is_blank(after) || is_mark(after));
    match character {
        b'_' => (left && (!right || is_mark(before)), right && (!left || is_mark(after))),
        b'~' if count > 2 => (false, false),
        _ => (left, right),
    }
}

fn char_len(first: u8) -> usize {
    match first {
        0..=0x7F => 1,
        0x80..=0xDF => 2,
        0xE0..=0xEF => 3,
        _ => 4,
    }
}
