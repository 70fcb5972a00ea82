//! From the lines of what the parser read back to places in the text.

/// The lines of the part that was read, behind those of its stand-in.
#[derive(Debug)]
pub(super) struct Lines {
    /// Number of the parser's line that holds the first line of the part.
    first: usize,
    /// Whether that line starts in the middle of a line of the text.
    joined: bool,
    /// Where each line starts in the text, and whether it is blank.
    starts: Vec<(usize, bool)>,
}

impl Lines {
    /// Of `part`, which starts at `from` in the text and is read behind `stand_in`.
    pub(super) fn new(stand_in: &str, part: &str, from: usize) -> Self {
        let mut starts = Vec::new();
        let mut at = from;
        for line in part.split('\n') {
            starts.push((at, line.bytes().all(|b| matches!(b, b' ' | b'\t' | b'>'))));
            at += line.len() + 1;
        }
        let joined = !stand_in.is_empty() && !stand_in.ends_with('\n');
        Self { first: stand_in.matches('\n').count() + 1, joined, starts }
    }

    /// Where a line starts in the text; `None` for lines of the stand-in.
    pub(super) fn source(&self, line: usize) -> Option<usize> {
        let at = line.checked_sub(self.first)?;
        if at == 0 && self.joined { None } else { self.starts.get(at).map(|(start, _)| *start) }
    }

    /// Whether a line is there, finished and blank.
    pub(super) fn is_blank(&self, line: usize) -> bool {
        line < self.unfinished()
            && line
                .checked_sub(self.first)
                .and_then(|at| self.starts.get(at))
                .is_some_and(|(_, blank)| *blank)
    }

    /// Number of the last line, which has no line feed yet.
    pub(super) fn unfinished(&self) -> usize {
        self.first + self.starts.len() - 1
    }
}
