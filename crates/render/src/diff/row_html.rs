//! Rows to HTML, with their line numbers, colours and the words that differ.

use std::fmt::Write;
use std::ops::Range;

use super::{Returns, Row, Side};
use crate::code::colour::{Lines, Token, write_piece};
use crate::escape::{Spell, show_into};

pub(super) struct RowHtml {
    pub html: String,
    returns: Returns,
    /// The digits of the largest line number.
    width: usize,
    /// Those of the old and of the new version.
    colours: Option<(Lines, Lines)>,
}

/// Where a row is: the numbers of its lines, and the block of changed lines that begins with it.
pub(super) struct RowPlace<'b> {
    pub old: usize,
    pub new: usize,
    pub block: Option<&'b str>,
}

impl RowHtml {
    pub fn new(last_line: usize, returns: Returns) -> Self {
        let width = last_line.max(100).ilog10() as usize + 1;
        Self { html: String::new(), returns, width, colours: None }
    }

    /// What precedes the next row is not known, so colours start afresh.
    pub fn start_colours(&mut self, language: &str) {
        self.colours = Lines::of(language).zip(Lines::of(language));
    }

    pub fn put(&mut self, what: std::fmt::Arguments<'_>) {
        let _a_string_never_fails = self.html.write_fmt(what);
    }

    pub fn row(&mut self, row: &Row<'_>, place: &RowPlace<'_>, marks: &[Range<usize>]) {
        // Padded, so that both columns are generated as one text: two elements would take a page twice as long.
        let (width, RowPlace { old, new, block }) = (self.width, place);
        match row.side {
            Side::Both => self.put(format_args!(
                "<div class=\"same\" data-old=\"{old:width$}\" data-new=\"{new:width$}\""
            )),
            Side::Old => self.put(format_args!(
                "<div class=\"del\" data-old=\"{old:width$}\" data-new=\"{:width$}\"",
                ""
            )),
            Side::New => self.put(format_args!(
                "<div class=\"add\" data-old=\"{:width$}\" data-new=\"{new:width$}\"",
                ""
            )),
        }
        if let Some(block) = block {
            self.put(format_args!(" data-block=\"{block}\""));
        }
        self.html.push('>');
        let text = match self.returns {
            Returns::Hide => row.text.strip_suffix('\r').unwrap_or(row.text),
            Returns::Show => row.text,
        };
        let tokens = self.tokens(row.side, text);
        let mut from = 0;
        for mark in marks.iter().filter(|mark| mark.end <= text.len()) {
            write_piece(&mut self.html, text, from..mark.start, &tokens);
            // Plain, because colours would have too little contrast here.
            self.html.push_str("<mark>");
            show_into(&mut self.html, &text[mark.clone()], Spell::Bidi);
            self.html.push_str("</mark>");
            from = mark.end;
        }
        write_piece(&mut self.html, text, from..text.len(), &tokens);
        self.html.push_str("</div>");
        if !row.ended {
            self.html.push_str("<div class=\"note\">No newline at end of file</div>");
        }
    }

    fn tokens(&mut self, side: Side, text: &str) -> Vec<Token> {
        let Some((old, new)) = &mut self.colours else { return Vec::new() };
        let line = format!("{text}\n");
        match side {
            Side::Old => old.next(&line),
            Side::New => new.next(&line),
            Side::Both => {
                old.next(&line);
                new.next(&line)
            }
        }
    }
}
