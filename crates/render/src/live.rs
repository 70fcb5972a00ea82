//! A text that grows, and its blocks.
//!
//! Each update costs what is new, not what is there. Words with plain emphasis and code are appended as they come
//! (`words`), lines of an open fence too (`fence`), at the place that `end` knows; anything else is read again by the
//! parser, but only from the last place before which nothing can change: `spine` knows what is open there, `repair`
//! makes the unfinished end whole, `lines` leads from the parser's lines back to the text. All of this may be
//! approximate, because [`Renderer::finish`] renders the whole.

mod end;
mod fence;
mod inline;
mod lines;
mod repair;
mod spine;
mod words;

use std::borrow::Cow;

use comrak::Arena;

use crate::code::UpTo;
use crate::markdown::write::{Reading, Resume, Written};
use crate::markdown::{markdown, parse, write};
use crate::{HEAVY, wall};
use end::End;
use lines::Lines;
use repair::Fence;
use spine::{Kind, Level, Read};

/// A part that can't be frozen and is longer than this is read again only when it has grown by a quarter.
const LONG: usize = 4 * 1024;

/// Definitions of link references are remembered up to so many bytes.
const MOST_DEFINITIONS: usize = 4 * 1024;

/// The blocks of one text while it grows.
#[derive(Debug, Default)]
pub struct Renderer {
    blocks: Vec<String>,
    /// How much of the text was seen, and its last bytes, by which a text that is not the same grown is told.
    seen: usize,
    last_seen: Vec<u8>,
    /// How much of the text was there when the parser last read it.
    read: usize,
    /// The block that is still open, and what is open in it.
    open_block: usize,
    spine: Vec<Level>,
    /// Where the part that is read again starts: in the text, and in the HTML of the open block.
    tail: usize,
    html: usize,
    /// Where words are appended to the last block.
    end: Option<End>,
    /// Definitions of link references so far.
    definitions: String,
    /// How much was read again because a block turned out to be something else, since it began.
    regrets: usize,
}

impl Renderer {
    /// No text yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text has grown to this. It has to begin with the text of the call before; another text starts anew.
    pub fn update(&mut self, text: &str) {
        if !self.continues(text) {
            *self = Self::default();
        }
        self.grow(text);
        self.see(text);
    }

    /// The text is complete: the blocks are now exactly those of [`markdown`](crate::markdown()).
    pub fn finish(&mut self, text: &str) {
        *self = Self { blocks: markdown(text), ..Self::default() };
    }

    /// All blocks.
    pub fn blocks(&self) -> &[String] {
        &self.blocks
    }

    fn continues(&self, text: &str) -> bool {
        text.as_bytes().get(..self.seen).is_some_and(|seen| seen.ends_with(&self.last_seen))
            && text.is_char_boundary(self.seen)
    }

    fn see(&mut self, text: &str) {
        self.seen = text.len();
        self.last_seen.clear();
        self.last_seen.extend_from_slice(&text.as_bytes()[text.len().saturating_sub(32)..]);
    }

    fn grow(&mut self, text: &str) {
        if text.len() == self.seen || self.append(text) {
            return;
        }
        let part = text.len() - self.tail;
        if part <= LONG || text.len() - self.read >= part / 4 {
            self.read(text);
        }
    }

    /// Reads the text again from where it may have changed.
    fn read(&mut self, text: &str) {
        self.read = text.len();
        loop {
            let part = plain_places(&text[self.tail..]);
            let (opening, resume) = spine::stand_in(&self.spine);
            let stand_in = if self.definitions.is_empty() {
                opening
            } else {
                format!("{}\n{opening}", self.definitions)
            };
            let lines = Lines::new(&stand_in, &part, self.tail);
            let repaired = repair::repair(&part, self.open_fence());
            let arena = Arena::new();
            let source = stand_in + &repaired.text;
            let root = parse(&arena, &source);
            if let Err(depth) = spine::agree(root, &self.spine) {
                self.regret(depth, text);
                continue;
            }
            let written: Vec<Written> = root
                .children()
                .enumerate()
                .map(|(at, block)| {
                    let resume = if at == 0 { resume } else { Resume::Nothing };
                    wall::checked_while_growing(
                        write::block(
                            block,
                            Reading { colours: UpTo(HEAVY), growing: true, resume },
                        ),
                        &source,
                    )
                })
                .collect();
            self.put(&written);
            let place = written.last().and_then(|last| {
                let from = if written.len() == 1 { self.html } else { 0 };
                Some(from + last.end?.checked_sub(last.start)?)
            });
            let part_start = self.tail;
            let mark = repaired.mark.map(|at| self.tail + at);
            let read = Read {
                root,
                written: &written,
                lines: &lines,
                spine: &self.spine,
                html: self.html,
                mark,
            };
            let frozen = if self.regrets > LONG + 4 * part.len() { None } else { read.freeze() };
            if let Some(frozen) = frozen {
                self.define(&text[self.tail..frozen.tail]);
                if frozen.finished > 0 {
                    self.regrets = 0;
                }
                self.open_block += frozen.finished;
                self.spine = frozen.spine;
                self.tail = frozen.tail;
                self.html = frozen.html;
            }
            self.end = if self.open_fence().is_some() {
                self.end_of_fence()
            } else {
                repaired.ended.zip(place).and_then(|(ended, place)| {
                    self.end_of_words(text, root, place, ended.behind(part_start))
                })
            };
            return;
        }
    }

    /// Puts what was written in the place of what may have changed.
    fn put(&mut self, written: &[Written]) {
        let mut parts = written.iter().map(|block| &block.html[block.start..]);
        let is_begun = self.html > 0;
        self.blocks.truncate(self.open_block + usize::from(is_begun));
        if is_begun && let Some(open) = self.blocks.get_mut(self.open_block) {
            open.truncate(self.html);
            open.push_str(parts.next().unwrap_or_default());
        }
        self.blocks.extend(parts.map(str::to_owned));
    }

    /// Something that was open is not what it seemed: it is read again from its start.
    fn regret(&mut self, depth: usize, text: &str) {
        let source = self.spine[depth].source;
        let first = self.spine.iter().position(|level| level.source == source).unwrap_or(depth);
        self.tail = source;
        self.html = self.spine[first].html;
        self.spine.truncate(first);
        self.regrets += text.len() - self.tail;
    }

    /// Remembers definitions of link references: they count for what comes later.
    fn define(&mut self, frozen: &str) {
        for line in frozen.lines() {
            let line = line.trim_start();
            if line.starts_with('[')
                && line.contains("]:")
                && self.definitions.len() + line.len() < MOST_DEFINITIONS
                // What is not a definition would be shown wherever these are put.
                && parse(&Arena::new(), line).first_child().is_none()
            {
                self.definitions.push_str(line);
                self.definitions.push('\n');
            }
        }
    }

    fn open_fence(&self) -> Option<Fence> {
        match self.spine.last()?.kind {
            Kind::Fence { character, length, .. } => Some(Fence { character, length }),
            _ => None,
        }
    }
}

/// A text without the characters by which places are marked, as long as it was. The parser would end a line at a
/// carriage return; here only line feeds count.
fn plain_places(text: &str) -> Cow<'_, str> {
    if text.contains([write::END, write::START, write::MARK, '\r']) {
        text.replace([write::END, write::START, write::MARK], "\u{FFFD}").replace('\r', " ").into()
    } else {
        text.into()
    }
}
