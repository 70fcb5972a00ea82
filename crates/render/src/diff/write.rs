//! Hunks to HTML rows and to a unified diff.

use std::fmt::Write;
use std::ops::Range;

use super::{Diff, Fate, Hunk, Returns, Row, Side, words};
use crate::escape::{Spell, escape_into, show_into};
use crate::visible;

/// More rows than this are counted, not shown: nobody reads them, and a browser would choke.
const MOST_ROWS: usize = 4_000;

/// One file: header with name and counts, then its hunks.
pub(super) fn file(path: &str, fate: Fate, hunks: Vec<Hunk<'_>>, returns: Returns) -> Diff {
    let added = hunks.iter().map(|hunk| hunk.count(Side::New)).sum();
    let removed = hunks.iter().map(|hunk| hunk.count(Side::Old)).sum();
    let mut writer =
        Writer { html: String::new(), text: String::new(), rows: 0, left_out: 0, returns };
    writer.header(path, fate, added, removed);
    for hunk in &hunks {
        writer.hunk(hunk, hunks.len() > 1 || hunk.old_start > 1 || hunk.new_start > 1);
    }
    writer.end(hunks.is_empty());
    Diff { html: writer.html, text: writer.text }
}

struct Writer {
    html: String,
    text: String,
    rows: usize,
    left_out: usize,
    returns: Returns,
}

impl Writer {
    fn header(&mut self, path: &str, fate: Fate, added: usize, removed: usize) {
        let path = visible(path);
        let (old, new) = match fate {
            Fate::New => ("/dev/null", path.as_str()),
            Fate::Deleted => (path.as_str(), "/dev/null"),
            Fate::Changed => (path.as_str(), path.as_str()),
        };
        self.put_text(format_args!("--- {old}\n+++ {new}\n"));
        self.html.push_str("<div class=\"diff\"><div class=\"file\"><span class=\"path\">");
        escape_into(&mut self.html, &path);
        self.html.push_str("</span>");
        match fate {
            Fate::New => self.html.push_str(" <span class=\"fate\">new file</span>"),
            Fate::Deleted => self.html.push_str(" <span class=\"fate\">deleted</span>"),
            Fate::Changed => {}
        }
        self.put_html(format_args!(
            " <span class=\"counts\"><span class=\"plus\">+{added}</span> <span class=\"minus\">\u{2212}{removed}</span></span></div><div class=\"rows\">"
        ));
    }

    fn hunk(&mut self, hunk: &Hunk<'_>, titled: bool) {
        let (both, old, new) =
            (hunk.count(Side::Both), hunk.count(Side::Old), hunk.count(Side::New));
        // An empty side is counted from the line before it, as in any unified diff.
        let start =
            |start: usize, lines: usize| if lines == 0 { start.saturating_sub(1) } else { start };
        let title = format!(
            "@@ -{},{} +{},{} @@",
            start(hunk.old_start, both + old),
            both + old,
            start(hunk.new_start, both + new),
            both + new
        );
        self.put_text(format_args!("{title}\n"));
        if titled && self.rows < MOST_ROWS {
            self.put_html(format_args!("<div class=\"gap\">{title}</div>"));
        }
        let (mut old_line, mut new_line) = (hunk.old_start, hunk.new_start);
        let mut rest = hunk.rows.as_slice();
        while let Some(first) = rest.first() {
            let side = first.side;
            let run = rest.iter().take_while(|row| row.side == side).count();
            let (rows, after) = rest.split_at(run);
            // Lines removed and then added stand for each other one by one: those get word-level marks.
            let added = if side == Side::Old {
                after.iter().take_while(|row| row.side == Side::New).count()
            } else {
                0
            };
            let (new_rows, after) = after.split_at(added);
            let marks: Vec<_> = rows
                .iter()
                .zip(new_rows)
                .take(MOST_ROWS.saturating_sub(self.rows))
                .map(|(old, new)| words::changed(old.text, new.text))
                .collect();
            for (at, row) in rows.iter().enumerate() {
                self.row(
                    row,
                    &mut old_line,
                    &mut new_line,
                    marks.get(at).map_or(&[], |(old, _)| old),
                );
            }
            for (at, row) in new_rows.iter().enumerate() {
                self.row(
                    row,
                    &mut old_line,
                    &mut new_line,
                    marks.get(at).map_or(&[], |(_, new)| new),
                );
            }
            rest = after;
        }
    }

    fn row(
        &mut self,
        row: &Row<'_>,
        old_line: &mut usize,
        new_line: &mut usize,
        marks: &[Range<usize>],
    ) {
        let sign = match row.side {
            Side::Both => ' ',
            Side::Old => '-',
            Side::New => '+',
        };
        self.put_text(format_args!("{sign}{}\n", row.text));
        if !row.ended {
            self.text.push_str("\\ No newline at end of file\n");
        }
        let (old, new) = (*old_line, *new_line);
        *old_line += usize::from(row.side != Side::New);
        *new_line += usize::from(row.side != Side::Old);
        self.rows += 1;
        if self.rows > MOST_ROWS {
            self.left_out += 1;
            return;
        }
        match row.side {
            Side::Both => self.put_html(format_args!(
                "<div class=\"same\" data-old=\"{old}\" data-new=\"{new}\">"
            )),
            Side::Old => self.put_html(format_args!("<div class=\"del\" data-old=\"{old}\">")),
            Side::New => self.put_html(format_args!("<div class=\"add\" data-new=\"{new}\">")),
        }
        let text = match self.returns {
            Returns::Hide => row.text.strip_suffix('\r').unwrap_or(row.text),
            Returns::Show => row.text,
        };
        let mut from = 0;
        for mark in marks.iter().filter(|mark| mark.end <= text.len()) {
            show_into(&mut self.html, &text[from..mark.start], Spell::Bidi);
            self.html.push_str("<mark>");
            show_into(&mut self.html, &text[mark.clone()], Spell::Bidi);
            self.html.push_str("</mark>");
            from = mark.end;
        }
        show_into(&mut self.html, &text[from..], Spell::Bidi);
        self.html.push_str("</div>");
        if !row.ended {
            self.html.push_str("<div class=\"note\">No newline at end of file</div>");
        }
    }

    fn end(&mut self, unchanged: bool) {
        if unchanged {
            self.html.push_str("<div class=\"note\">No change</div>");
        }
        let left_out = self.left_out;
        if left_out > 0 {
            self.put_html(format_args!("<div class=\"note\">{} more lines</div>", left_out));
        }
        self.html.push_str("</div></div>");
    }

    fn put_html(&mut self, what: std::fmt::Arguments<'_>) {
        let _a_string_never_fails = self.html.write_fmt(what);
    }

    fn put_text(&mut self, what: std::fmt::Arguments<'_>) {
        let _a_string_never_fails = self.text.write_fmt(what);
    }
}
