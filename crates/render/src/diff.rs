//! Two texts, or the hunks an agent hands over, to rows with line numbers. Which words of a changed line differ is
//! `words`; how rows look as HTML is `write`.

mod words;
mod write;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// A rendered difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// Safe HTML.
    pub html: String,
    /// The same as a unified diff, in plain text.
    pub text: String,
}

/// A hunk as agents hand them over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkInput {
    /// Number of the first line in the old file, counted from 1.
    pub old_start: usize,
    /// Number of the first line in the new file, counted from 1.
    pub new_start: usize,
    /// Lines with their mark: a space, `+`, `-`, or `\` (no newline at the end of the line before).
    pub lines: Vec<String>,
}

/// The difference between two texts of a file; `None` means that there is no such file.
pub fn diff(path: &str, old: Option<&str>, new: Option<&str>) -> Diff {
    let fate = match (old, new) {
        (None, Some(_)) => Fate::New,
        (Some(_), None) => Fate::Deleted,
        (Some(_), Some(_)) | (None, None) => Fate::Changed,
    };
    let (mut old, mut new) =
        (old.unwrap_or_default().to_owned(), new.unwrap_or_default().to_owned());
    // An edit is often told by the lines it is about, without the end of the last. That neither side has it says nothing.
    if fate == Fate::Changed && !old.ends_with('\n') && !new.ends_with('\n') {
        [&mut old, &mut new].into_iter().filter(|text| !text.is_empty()).for_each(|t| t.push('\n'));
    }
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let groups =
        group_diff_ops(capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines), CONTEXT);
    let hunks = groups.iter().map(|ops| Hunk::from_ops(ops, &old_lines, &new_lines)).collect();
    // The end of a line is worth seeing only where it is what changed.
    let returns =
        if old.contains("\r\n") == new.contains("\r\n") { Returns::Hide } else { Returns::Show };
    write::file(path, fate, hunks, returns)
}

/// A difference that an agent already worked out.
pub fn hunks(path: &str, hunks: &[HunkInput]) -> Diff {
    write::file(path, Fate::Changed, hunks.iter().map(Hunk::from_input).collect(), Returns::Hide)
}

/// What became of the file.
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

/// Rows that stand together, with the number of their first line on either side.
struct Hunk<'t> {
    old_start: usize,
    new_start: usize,
    rows: Vec<Row<'t>>,
}

/// One line.
struct Row<'t> {
    side: Side,
    /// Without its line feed.
    text: &'t str,
    /// Whether it had one.
    ended: bool,
}

/// Where a line is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

impl<'t> Hunk<'t> {
    fn from_ops(ops: &[DiffOp], old: &[&'t str], new: &[&'t str]) -> Self {
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
        Self { old_start: old_start + 1, new_start: new_start + 1, rows }
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
