//! Hunks to HTML rows and to a unified diff.

use std::fmt::Write;
use std::ops::Range;

use super::row_html::{RowHtml, RowPlace};
use super::{Diff, Extent, Fate, Hunk, Returns, Row, Side, words};
use crate::code::language_of_file;
use crate::escape::escape_into;
use crate::{HEAVY, visible};

/// Rows beyond this are counted or folded: laying them out would slow down a browser.
const MOST_ROWS: usize = 4_000;

/// One file: header with name and counts, then its hunks.
pub(super) fn file(
    path: &str,
    fate: Fate,
    hunks: Vec<Hunk<'_>>,
    returns: Returns,
    extent: Extent,
) -> Diff {
    let count = |side| hunks.iter().map(|hunk| hunk.count(side)).sum::<usize>();
    let number = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    let (added, removed) = (number(count(Side::New)), number(count(Side::Old)));
    let total = hunks.iter().map(|hunk| hunk.rows.len()).sum();
    let rows = hunks.iter().flat_map(|hunk| &hunk.rows);
    let is_heavy = rows.map(|row| row.text.len()).sum::<usize>() > HEAVY;
    let language = if is_heavy { "" } else { language_of_file(path) };
    let end = |hunk: &Hunk<'_>| hunk.old_start.max(hunk.new_start).saturating_add(hunk.rows.len());
    let last = hunks.iter().map(end).max();
    let out = RowHtml::new(last.unwrap_or_default(), returns);
    let mut writer = Writer { out, text: String::new(), rows: 0, total, extent };
    writer.header(path, fate, added, removed);
    for hunk in &hunks {
        writer.out.start_colours(language);
        writer.hunk(hunk, hunks.len() > 1 || hunk.old_start > 1 || hunk.new_start > 1);
    }
    writer.end(hunks.is_empty());
    Diff { html: writer.out.html, text: writer.text, added, removed }
}

struct Writer {
    out: RowHtml,
    text: String,
    rows: usize,
    total: usize,
    extent: Extent,
}

impl Writer {
    fn header(&mut self, path: &str, fate: Fate, added: u32, removed: u32) {
        let path = visible(path);
        let (old, new) = match fate {
            Fate::New => ("/dev/null", path.as_str()),
            Fate::Deleted => (path.as_str(), "/dev/null"),
            Fate::Changed => (path.as_str(), path.as_str()),
        };
        self.put_text(format_args!("--- {old}\n+++ {new}\n"));
        self.out.html.push_str("<div class=\"diff\"><div class=\"file\"><span class=\"path\">");
        escape_into(&mut self.out.html, &path);
        self.out.html.push_str("</span>");
        match fate {
            Fate::New => self.out.html.push_str(" <span class=\"fate\">new file</span>"),
            Fate::Deleted => self.out.html.push_str(" <span class=\"fate\">deleted</span>"),
            Fate::Changed => {}
        }
        self.out.html.push_str(" <span class=\"counts\">");
        // What is none is not said.
        if added > 0 {
            self.out.put(format_args!("<span class=\"plus\">+{added}</span> "));
        }
        if removed > 0 {
            self.out.put(format_args!("<span class=\"minus\">\u{2212}{removed}</span>"));
        }
        self.out.html.push_str("</span></div><div class=\"rows\">");
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
        if titled && (self.rows < MOST_ROWS || self.extent == Extent::Whole) {
            self.out.put(format_args!("<div class=\"gap\">{title}</div>"));
        }
        let (mut old_line, mut new_line) = (hunk.old_start, hunk.new_start);
        let mut rest = hunk.rows.as_slice();
        while let Some(first) = rest.first() {
            let side = first.side;
            let run = rest.iter().take_while(|row| row.side == side).count();
            let (rows, after) = rest.split_at(run);
            // Removed lines pair up with the added lines that follow them, one by one: pairs get word-level marks.
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
        if self.rows > MOST_ROWS && self.extent == Extent::Beginning {
            return;
        }
        if self.rows == MOST_ROWS + 1 {
            let more = self.total - MOST_ROWS;
            self.out.put(format_args!(
                "<details class=\"rest\"><summary>Show {more} more lines</summary>"
            ));
        }
        self.out.row(row, &RowPlace { old, new, block: None }, marks);
    }

    fn end(&mut self, unchanged: bool) {
        if unchanged {
            self.out.html.push_str("<div class=\"note\">No change</div>");
        }
        let more = self.total.saturating_sub(MOST_ROWS);
        match self.extent {
            Extent::Whole if more > 0 => self.out.html.push_str("</details>"),
            Extent::Beginning if more > 0 => {
                self.out.put(format_args!("<div class=\"note\">{more} more lines</div>"));
            }
            Extent::Whole | Extent::Beginning => {}
        }
        self.out.html.push_str("</div></div>");
    }

    fn put_text(&mut self, what: std::fmt::Arguments<'_>) {
        let _a_string_never_fails = self.text.write_fmt(what);
    }
}
