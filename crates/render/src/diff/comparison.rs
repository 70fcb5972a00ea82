//! Two versions of a file, shown part by part, so that a long difference costs only what is looked at.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::row_html::{RowHtml, RowPlace};
use super::{Block, Fate, Hunk, Returns, Row, Side, words};
use crate::code::language_of_file;
use crate::escape::{Spell, show_into};
use crate::{HEAVY, visible};

/// Rows in a part: a few windows full.
const PART: usize = 200;
/// In characters: how much of a line is quoted where lines are left out.
const HEADING: usize = 80;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DiffView {
    /// Unchanged lines around a change.
    pub context: usize,
    pub whitespace: Whitespace,
}

/// Whether lines that differ only in whitespace are different.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Whitespace {
    Counts,
    Ignored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Removed lines are above those that replace them.
    Unified,
    /// They are beside them, and one row has both.
    SideBySide,
}

/// Where a part begins: its first row, and the lines of both versions, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartStart {
    pub row: usize,
    pub old: usize,
    pub new: usize,
}

#[derive(Debug)]
pub struct Comparison {
    path: String,
    pub(super) fate: Fate,
    old: String,
    new: String,
    groups: Vec<Vec<DiffOp>>,
    view: DiffView,
}

/// Adjacent rows, all changed or all unchanged.
struct Run {
    tag: DiffTag,
    /// The row that it begins with.
    row: usize,
    old: Range<usize>,
    new: Range<usize>,
    /// Unchanged lines of the new version that are left out before it.
    left_out: Range<usize>,
}

impl Comparison {
    /// `None` means that the file does not exist.
    pub fn of(path: &str, old: Option<&str>, new: Option<&str>, view: DiffView) -> Self {
        let fate = match (old, new) {
            (None, Some(_)) => Fate::New,
            (Some(_), None) => Fate::Deleted,
            (Some(_), Some(_)) | (None, None) => Fate::Changed,
        };
        let (mut old, mut new) =
            (old.unwrap_or_default().to_owned(), new.unwrap_or_default().to_owned());
        // Agents often send only the edited lines, without the final newline. If both sides lack it, that means
        // nothing.
        if fate == Fate::Changed && !old.ends_with('\n') && !new.ends_with('\n') {
            let texts = [&mut old, &mut new];
            texts.into_iter().filter(|text| !text.is_empty()).for_each(|text| text.push('\n'));
        }
        let (old_lines, new_lines) = (lines(&old), lines(&new));
        let ops = match view.whitespace {
            Whitespace::Counts => capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines),
            Whitespace::Ignored => {
                let bare = |lines: &[&str]| -> Vec<String> {
                    lines.iter().map(|line| line.split_whitespace().collect()).collect()
                };
                capture_diff_slices(Algorithm::Myers, &bare(&old_lines), &bare(&new_lines))
            }
        };
        let groups = group_diff_ops(ops, view.context);
        Self { path: path.to_owned(), fate, old, new, groups, view }
    }

    /// Differs whenever what is shown does.
    pub fn version(&self) -> String {
        let mut hasher = std::hash::DefaultHasher::new();
        (&self.old, &self.new, self.view, self.fate).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// How many rows it has.
    pub fn rows(&self, layout: Layout) -> usize {
        self.runs(layout).last().map_or(0, |run| run.row + run.rows(layout))
    }

    /// Where its parts begin.
    pub fn parts(&self, layout: Layout) -> Vec<PartStart> {
        let mut parts = Vec::new();
        for run in self.runs(layout) {
            let first = run.row.next_multiple_of(PART);
            let rows = (first..run.row + run.rows(layout)).step_by(PART);
            parts.extend(rows.map(|row| run.start_at(row - run.row, layout)));
        }
        parts
    }

    /// The part that begins with a row, as safe HTML.
    pub fn part(&self, from: usize, layout: Layout) -> String {
        let (text, to) = (Text::of(self), from.saturating_add(PART));
        let mut out = RowHtml::new(text.old.len().max(text.new.len()), self.returns());
        let runs = self.runs(layout);
        let end = |run: &Run| run.row + run.rows(layout);
        let here: Vec<_> = runs.iter().filter(|run| run.row < to && end(run) > from).collect();
        let rows = |run: &Run| run.rows_in(from..to, layout);
        let length = |run: &Run| -> usize {
            rows(run).into_iter().map(|(side, at)| text.line(run, side, at).len()).sum()
        };
        let is_heavy = here.iter().map(|run| length(run)).sum::<usize>() > HEAVY;
        let language = if is_heavy { "" } else { language_of_file(&self.path) };
        out.start_colours(language);
        for run in here {
            if !run.left_out.is_empty() && run.row >= from {
                put_gap(&mut out, &text.new, run.left_out.clone());
                out.start_colours(language);
            }
            let block = self.block(run);
            for (side, at) in rows(run) {
                let is_first = at == 0 && (side == Side::Old || run.old.is_empty());
                let block = block.as_deref().filter(|_| is_first);
                let (old, new) = (run.old.start + at + 1, run.new.start + at + 1);
                let row = Row::new(side, text.line(run, side, at));
                out.row(&row, &RowPlace { old, new, block }, &text.marks(run, side, at));
            }
        }
        let shown = runs.last().map_or(0, |run| run.new.end);
        if runs.last().is_some_and(|run| end(run) <= to) && shown < text.new.len() {
            put_gap(&mut out, &text.new, shown..text.new.len());
        }
        out.html
    }

    pub(super) fn hunks(&self, first_line: usize) -> Vec<Hunk<'_>> {
        let (old, new) = (lines(&self.old), lines(&self.new));
        self.groups.iter().map(|ops| Hunk::from_ops(ops, &old, &new, first_line)).collect()
    }

    /// Line ends are worth showing only if they changed.
    pub(super) fn returns(&self) -> Returns {
        if self.old.contains("\r\n") == self.new.contains("\r\n") {
            Returns::Hide
        } else {
            Returns::Show
        }
    }

    fn runs(&self, layout: Layout) -> Vec<Run> {
        let (mut runs, mut row, mut shown) = (Vec::new(), 0, 0);
        for op in self.groups.iter().flatten() {
            let (old, new) = (op.old_range(), op.new_range());
            let run = Run { tag: op.tag(), row, left_out: shown..new.start, old, new };
            shown = run.new.end;
            row += run.rows(layout);
            runs.push(run);
        }
        runs
    }

    /// The name of a block that can be taken back by itself.
    fn block(&self, run: &Run) -> Option<String> {
        let is_one = run.tag != DiffTag::Equal
            && self.fate == Fate::Changed
            && self.view.whitespace == Whitespace::Counts;
        let side = |lines: &Range<usize>| {
            (if lines.is_empty() { 0 } else { lines.start + 1 }, lines.len())
        };
        is_one.then(|| Block { old: side(&run.old), new: side(&run.new) }.to_string())
    }
}

impl Run {
    fn rows(&self, layout: Layout) -> usize {
        match layout {
            _ if self.tag == DiffTag::Equal => self.new.len(),
            Layout::Unified => self.old.len() + self.new.len(),
            Layout::SideBySide => self.old.len().max(self.new.len()),
        }
    }

    /// Those of its lines that are in these rows: their side, and their place among the lines of that side.
    fn rows_in(&self, rows: Range<usize>, layout: Layout) -> Vec<(Side, usize)> {
        let within = |first: usize, lines: usize| {
            let clip = |row: usize| row.saturating_sub(first).min(lines);
            clip(rows.start)..clip(rows.end)
        };
        if self.tag == DiffTag::Equal {
            return within(self.row, self.new.len()).map(|at| (Side::Both, at)).collect();
        }
        let added = match layout {
            Layout::Unified => self.row + self.old.len(),
            Layout::SideBySide => self.row,
        };
        let old = within(self.row, self.old.len()).map(|at| (Side::Old, at));
        let new = within(added, self.new.len()).map(|at| (Side::New, at));
        old.chain(new).collect()
    }

    /// The lines that come next after this many of its rows.
    fn start_at(&self, rows: usize, layout: Layout) -> PartStart {
        let (old, new) = match layout {
            Layout::Unified if self.tag != DiffTag::Equal => {
                let old = rows.min(self.old.len());
                (old, rows - old)
            }
            Layout::Unified | Layout::SideBySide => {
                (rows.min(self.old.len()), rows.min(self.new.len()))
            }
        };
        PartStart {
            row: self.row + rows,
            old: self.old.start + old + 1,
            new: self.new.start + new + 1,
        }
    }
}

/// Both versions, in lines.
struct Text<'c> {
    old: Vec<&'c str>,
    new: Vec<&'c str>,
}

impl<'c> Text<'c> {
    fn of(compared: &'c Comparison) -> Self {
        Self { old: lines(&compared.old), new: lines(&compared.new) }
    }

    fn line(&self, run: &Run, side: Side, at: usize) -> &'c str {
        match side {
            Side::Old => self.old[run.old.start + at],
            Side::New | Side::Both => self.new[run.new.start + at],
        }
    }

    /// The words that differ. Removed lines pair up with the added ones, one by one.
    fn marks(&self, run: &Run, side: Side, at: usize) -> Vec<Range<usize>> {
        if side == Side::Both || at >= run.old.len().min(run.new.len()) {
            return Vec::new();
        }
        let text = |side| self.line(run, side, at).trim_end_matches('\n');
        let (old, new) = words::changed(text(Side::Old), text(Side::New));
        if side == Side::Old { old } else { new }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// How many lines are left out, and the last of them that begins something.
fn put_gap(out: &mut RowHtml, new: &[&str], left_out: Range<usize>) {
    let count = left_out.len();
    out.put(format_args!("<div class=\"gap\">{count} line{}", if count == 1 { "" } else { "s" }));
    let begins = |line: &&&str| line.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_before_rows = left_out.end < new.len();
    if let Some(line) = new[left_out].iter().rev().find(begins).filter(|_| is_before_rows) {
        let heading: String = line.trim_end().chars().take(HEADING).collect();
        out.html.push_str(" · ");
        show_into(&mut out.html, &visible(&heading), Spell::Bidi);
    }
    out.html.push_str("</div>");
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: DiffView = DiffView { context: 3, whitespace: Whitespace::Counts };

    fn numbered(word: &str, lines: usize) -> String {
        (1..=lines).map(|line| format!("{word} {line}\n")).collect()
    }

    /// Each row as its sign and its line: ` 4`, `-5`, `+5`.
    fn rows(html: &str) -> Vec<String> {
        let number = |row: &str, name: &str| {
            let (_, rest) = row.split_once(&format!("data-{name}=\"")).unwrap();
            rest.split('"').next().unwrap().trim().to_owned()
        };
        let rows = html.split("<div class=\"").filter_map(|row| {
            let (class, _) = row.split_once('"')?;
            match class {
                "same" => Some(format!(" {}", number(row, "new"))),
                "del" => Some(format!("-{}", number(row, "old"))),
                "add" => Some(format!("+{}", number(row, "new"))),
                _ => None,
            }
        });
        rows.collect()
    }

    #[test]
    fn the_parts_of_a_difference_are_the_whole_of_it() {
        let (old, new) = (numbered("old", 450), numbered("new", 300));
        let (old, new) = (format!("a\n{old}z\n"), format!("a\n{new}z\n"));
        let compared = Comparison::of("a.txt", Some(&old), Some(&new), VIEW);
        for layout in [Layout::Unified, Layout::SideBySide] {
            let parts = compared.parts(layout);
            let firsts: Vec<_> = parts.iter().map(|part| part.row).collect();
            let all: Vec<_> =
                firsts.iter().flat_map(|&row| rows(&compared.part(row, layout))).collect();
            match layout {
                Layout::Unified => assert_eq!(firsts, [0, 200, 400, 600]),
                Layout::SideBySide => assert_eq!(firsts, [0, 200, 400]),
            }
            let on = |sign: char| all.iter().filter(move |row| row.starts_with(sign)).cloned();
            let removed: Vec<_> = (2..=451).map(|line| format!("-{line}")).collect();
            let added: Vec<_> = (2..=301).map(|line| format!("+{line}")).collect();
            assert_eq!(on('-').collect::<Vec<_>>(), removed, "{layout:?}");
            assert_eq!(on('+').collect::<Vec<_>>(), added, "{layout:?}");
            assert_eq!(on(' ').collect::<Vec<_>>(), [" 1", " 302"], "{layout:?}");
        }
        assert_eq!(compared.rows(Layout::Unified), 752);
        assert_eq!(compared.rows(Layout::SideBySide), 452);
        assert_eq!(compared.part(10_000, Layout::Unified), "");
        let second = compared.parts(Layout::SideBySide)[1];
        assert_eq!(second, PartStart { row: 200, old: 201, new: 201 });
        let third = compared.parts(Layout::Unified)[3];
        assert_eq!(third, PartStart { row: 600, old: 452, new: 151 });
    }

    #[test]
    fn a_block_is_named_once_however_many_parts_it_has() {
        let (old, new) = (numbered("old", 300), numbered("new", 300));
        let compared = Comparison::of("a.txt", Some(&old), Some(&new), VIEW);
        let html: String = [0, 200, 400].map(|row| compared.part(row, Layout::Unified)).concat();
        assert_eq!(html.matches("data-block").count(), 1);
        assert!(html.contains("data-block=\"1,300:1,300\""), "{}", &html[..200]);
        let ignored = DiffView { whitespace: Whitespace::Ignored, ..VIEW };
        for compared in [
            Comparison::of("a.txt", Some(&old), Some(&new), ignored),
            Comparison::of("a.txt", None, Some(&new), VIEW),
        ] {
            assert!(!compared.part(0, Layout::Unified).contains("data-block"));
        }
    }

    #[test]
    fn lines_that_are_left_out_are_counted_and_say_where_they_lead() {
        let old = format!("fn first() {{\n{}}}\n", "  x\n".repeat(20));
        let new = old.replace("}", "  y\n}");
        let html = Comparison::of("a.rs", Some(&old), Some(&new), VIEW).part(0, Layout::Unified);
        assert!(html.starts_with("<div class=\"gap\">18 lines · fn first() {</div>"), "{html}");
        let old = numbered("line", 20);
        let new = old.replace("line 2\n", "line two\n");
        let html = Comparison::of("a", Some(&old), Some(&new), VIEW).part(0, Layout::Unified);
        assert!(html.ends_with("<div class=\"gap\">15 lines</div>"), "{html}");
        let whole = DiffView { context: 1000, ..VIEW };
        let html = Comparison::of("a", Some(&old), Some(&new), whole).part(0, Layout::Unified);
        assert!(!html.contains("gap"));
    }

    #[test]
    fn only_what_differs_has_rows() {
        let view = DiffView { whitespace: Whitespace::Ignored, ..VIEW };
        let compared = Comparison::of("a", Some("a b\n"), Some("a  b\n"), view);
        assert_eq!(compared.rows(Layout::Unified), 0);
        assert_eq!(compared.parts(Layout::Unified), []);
        let other = Comparison::of("a", Some("a b\n"), Some("a  b\n"), VIEW);
        assert_ne!(compared.version(), other.version());
    }
}
