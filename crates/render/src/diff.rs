//! Two texts, or the hunks an agent sends, to rows with line numbers. `words` finds the words that differ in a changed
//! line; `write` makes the HTML.

mod blocks;
mod words;
mod write;

pub use blocks::{Block, without_block};
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

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

/// How a difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffView {
    pub extent: Extent,
    /// Unchanged lines around a change.
    pub context: usize,
    pub whitespace: Whitespace,
}

/// Whether lines that differ only in whitespace are different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whitespace {
    Counts,
    Ignored,
}

/// The difference between two versions of a file; `None` means that the file does not exist.
pub fn diff(path: &str, old: Option<&str>, new: Option<&str>, extent: Extent) -> Diff {
    let whitespace = Whitespace::Counts;
    diff_as(path, old, new, DiffView { extent, context: CONTEXT, whitespace })
}

/// The same, shown as asked.
pub fn diff_as(path: &str, old: Option<&str>, new: Option<&str>, view: DiffView) -> Diff {
    compare(path, old, new, view, 1)
}

/// The difference between two versions of some lines of a file, which begin at `first_line`, counted from 1.
pub fn edit(path: &str, old: &str, new: &str, first_line: usize, extent: Extent) -> Diff {
    let view = DiffView { extent, context: CONTEXT, whitespace: Whitespace::Counts };
    compare(path, Some(old), Some(new), view, first_line)
}

fn compare(
    path: &str,
    old: Option<&str>,
    new: Option<&str>,
    view: DiffView,
    first_line: usize,
) -> Diff {
    let fate = match (old, new) {
        (None, Some(_)) => Fate::New,
        (Some(_), None) => Fate::Deleted,
        (Some(_), Some(_)) | (None, None) => Fate::Changed,
    };
    let (mut old, mut new) =
        (old.unwrap_or_default().to_owned(), new.unwrap_or_default().to_owned());
    // Agents often send only the edited lines, without the final newline. If both sides lack it, that means nothing.
    if fate == Fate::Changed && !old.ends_with('\n') && !new.ends_with('\n') {
        [&mut old, &mut new].into_iter().filter(|text| !text.is_empty()).for_each(|t| t.push('\n'));
    }
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
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
    let hunks = groups.iter().map(|ops| Hunk::from_ops(ops, &old_lines, &new_lines, first_line));
    let hunks = hunks.collect();
    // Line ends are worth showing only if they changed.
    let returns =
        if old.contains("\r\n") == new.contains("\r\n") { Returns::Hide } else { Returns::Show };
    write::file(path, fate, hunks, returns, view.extent)
}

/// A diff that an agent already computed.
pub fn hunks(path: &str, hunks: &[HunkInput], extent: Extent) -> Diff {
    let hunks = hunks.iter().map(Hunk::from_input).collect();
    write::file(path, Fate::Changed, hunks, Returns::Hide, extent)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
