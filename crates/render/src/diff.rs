//! Two texts, or the hunks an agent sends, to rows with line numbers. `words` finds the words that differ in a changed
//! line; `row_html` makes the HTML of a row, `write` that of an agent's change, `comparison` that of a part of a file.

mod blocks;
mod comparison;
mod row_html;
mod words;
mod write;

pub use blocks::{Block, without_block};
pub use comparison::{Comparison, DiffView, Layout, PartStart, Whitespace};
use similar::{DiffOp, DiffTag};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// Safe HTML.
    pub html: String,
    /// A unified diff in plain text.
    pub text: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// A hunk as an agent sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkInput {
    /// The first line in the old file, counted from 1.
    pub old_start: usize,
    /// The first line in the new file, counted from 1.
    pub new_start: usize,
    /// Lines with their mark: a space, `+`, `-`, or `\` (no newline at the end of the previous line).
    pub lines: Vec<String>,
}

/// How much of a long diff the HTML shows. The text always has all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The first rows, and the number of the others.
    Beginning,
    /// Every row. Those that would slow down a page are in a closed `<details>`.
    Whole,
}

/// The difference between two versions of a file; `None` means that the file does not exist.
pub fn diff(path: &str, old: Option<&str>, new: Option<&str>, extent: Extent) -> Diff {
    compare(path, old, new, extent, 1)
}

/// The difference between two versions of some lines of a file, which begin at `first_line`, counted from 1.
pub fn edit(path: &str, old: &str, new: &str, first_line: usize, extent: Extent) -> Diff {
    compare(path, Some(old), Some(new), extent, first_line)
}

fn compare(
    path: &str,
    old: Option<&str>,
    new: Option<&str>,
    extent: Extent,
    first_line: usize,
) -> Diff {
    let view = DiffView { context: CONTEXT, whitespace: Whitespace::Counts };
    let compared = Comparison::of(path, old, new, view);
    write::file(path, compared.fate, compared.hunks(first_line), compared.returns(), extent)
}

/// A diff that an agent already computed.
pub fn hunks(path: &str, hunks: &[HunkInput], extent: Extent) -> Diff {
    let hunks = hunks.iter().map(Hunk::from_input).collect();
    write::file(path, Fate::Changed, hunks, Returns::Hide, extent)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fate {
    New,
    Deleted,
    Changed,
}

/// Whether the carriage return at the end of a line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Returns {
    Show,
    Hide,
}

/// Adjacent rows, with the number of their first line on either side.
struct Hunk<'t> {
    old_start: usize,
    new_start: usize,
    rows: Vec<Row<'t>>,
}

struct Row<'t> {
    side: Side,
    /// Without its line feed.
    text: &'t str,
    /// Whether it had one.
    ended: bool,
}

/// Which version has a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

impl<'t> Hunk<'t> {
    fn from_ops(ops: &[DiffOp], old: &[&'t str], new: &[&'t str], first_line: usize) -> Self {
        let (old_start, new_start) =
            ops.first().map_or((0, 0), |op| (op.old_range().start, op.new_range().start));
        let mut rows = Vec::new();
        for op in ops {
            if op.tag() == DiffTag::Equal {
                rows.extend(new[op.new_range()].iter().map(|line| Row::new(Side::Both, line)));
            } else {
                rows.extend(old[op.old_range()].iter().map(|line| Row::new(Side::Old, line)));
                rows.extend(new[op.new_range()].iter().map(|line| Row::new(Side::New, line)));
            }
        }
        let at = |start: usize| start.saturating_add(first_line);
        Self { old_start: at(old_start), new_start: at(new_start), rows }
    }

    fn from_input(input: &'t HunkInput) -> Self {
        let mut rows: Vec<Row<'_>> = Vec::with_capacity(input.lines.len());
        for line in &input.lines {
            let line = line.strip_suffix('\n').unwrap_or(line);
            let (side, text) = match line.as_bytes().first() {
                Some(b'+') => (Side::New, &line[1..]),
                Some(b'-') => (Side::Old, &line[1..]),
                Some(b'\\') => {
                    if let Some(last) = rows.last_mut() {
                        last.ended = false;
                    }
                    continue;
                }
                Some(b' ') => (Side::Both, &line[1..]),
                // Some agents drop the space of an empty line.
                Some(_) | None => (Side::Both, line),
            };
            rows.push(Row { side, text, ended: true });
        }
        Self { old_start: input.old_start, new_start: input.new_start, rows }
    }

    fn count(&self, side: Side) -> usize {
        self.rows.iter().filter(|row| row.side == side).count()
    }
}

impl<'t> Row<'t> {
    fn new(side: Side, line: &'t str) -> Self {
        match line.strip_suffix('\n') {
            Some(text) => Self { side, text, ended: true },
            None => Self { side, text: line, ended: false },
        }
    }
}
