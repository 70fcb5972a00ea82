//! Finds what is still open at the end of a paragraph: emphasis, code, a link. One pass, simpler than the parser.

/// How far back an opening bracket may still become a link.
const LONGEST_LINK_TEXT: usize = 300;

/// A code span that is not closed within this length is treated as text.
const LONGEST_CODE: usize = LONGEST_LINK_TEXT * 4;

/// Marks nested deeper are treated as text, because each closing mark is compared with all open ones.
const MOST_OPEN: usize = 64;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// The marks that close everything open.
    pub closers: String,
    /// Text from here on is only half of something.
    pub cut: Option<usize>,
    /// Single bytes to leave out, ascending: the brackets of incomplete links.
    pub omit: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    character: u8,
    count: usize,
}

/// Scans a paragraph up to its current end.
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
    /// Where each bracket opened, and whether an exclamation mark precedes it.
    brackets: Vec<(usize, bool)>,
    found: Scan,
}

impl Scanner<'_> {
    fn run(&mut self) {
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
                _ => self.at += 1,
            }
        }
        self.close_all();
    }

    /// Closes what is still open at the end.
    fn close_all(&mut self) {
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
        for open in self.open.iter().rev() {
            self.found.closers.extend(std::iter::repeat_n(char::from(open.character), open.count));
        }
    }

    fn cut_at(&mut self, at: usize) {
        self.found.cut = Some(at);
        // Marks that are now at the end mean nothing either.
        self.close_all();
    }

    /// Skips a code span; `false` if it is open and the scan is over.
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
            // Too long to be a code span: only a tick.
            self.at = from;
            return true;
        }
        // Some of the closing ticks may already be there.
        let trailing = self.bytes.iter().rev().take_while(|b| **b == b'`').count();
        if trailing > 0 && trailing < ticks {
            self.found.cut = Some(self.bytes.len() - trailing);
        }
        self.close_all();
        self.found.closers.insert_str(0, &"`".repeat(ticks));
        false
    }

    /// Skips `<…>`, inside which nothing is emphasis.
    fn skip_tag(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        let end =
            rest.iter().take(LONGEST_LINK_TEXT).position(|b| matches!(b, b'>' | b'<' | b'\n'));
        self.at += match end {
            Some(end) if rest[end] == b'>' => end + 2,
            _ => 1,
        };
    }

    /// Handles a run of emphasis marks; `false` if the scan is over.
    fn emphasis(&mut self, character: u8) -> bool {
        let mut count = run_length(self.bytes, self.at, character);
        let before = self.words[..self.at].chars().next_back();
        let after = self.words[self.at + count..].chars().next();
        let start = self.at;
        self.at += count;
        let Some(after) = after else {
            // At the very end: a closing run, or half of one, or the start of new emphasis. The next text decides;
            // until then everything open is closed anyway.
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
            self.open.push(Mark { character, count });
        }
        true
    }

    /// Handles a closing bracket; `false` if it closes half a link and the scan is over.
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

    /// Skips bracketed text; `false`, without moving, if it is not closed.
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

/// The length of a run of the same byte.
fn run_length(bytes: &[u8], from: usize, byte: u8) -> usize {
    bytes[from..].iter().take_while(|b| **b == byte).count()
}

/// Whether a run of emphasis marks between two characters can open, and whether it can close.
fn flanks(character: u8, count: usize, before: Option<char>, after: char) -> (bool, bool) {
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
