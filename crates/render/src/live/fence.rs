//! Lines at the end of an open fence: appended as they are, without reading anything again.

use super::repair::Fence;
use super::words::Pen;
use crate::HEAVY;

/// What a fence says of itself in its first line is hardly longer.
const LONGEST_INFO: usize = 1024;

impl Pen<'_> {
    /// Writes as much as is certain: all lines that do not end the fence. `None` when only the parser knows.
    pub(super) fn lines_of_code(
        &mut self,
        fence: Fence,
        indent: usize,
        offset: usize,
    ) -> Option<()> {
        if self.bytes[self.at..].contains(&b'\r') {
            return None;
        }
        while self.at < self.bytes.len() {
            let rest = &self.bytes[self.at..];
            let line_end = rest.iter().position(|b| *b == b'\n').map(|end| self.at + end);
            if self.at == self.end.line {
                let line = &self.text[self.at..line_end.unwrap_or(self.bytes.len())];
                let content = line.trim_start_matches(' ');
                let blanks = line.len() - content.len();
                if content.starts_with('\t') || blanks < indent && !content.is_empty() {
                    return None;
                }
                if line_end.is_none() && content.is_empty() {
                    return Some(());
                }
                if blanks < indent + 4 {
                    match line_end {
                        Some(end) if fence.is_closed_by(content) => {
                            return self.close_plainly(end + 1);
                        }
                        None if fence.may_be_closed_by(content) => return Some(()),
                        _ => {}
                    }
                }
                let skipped = indent.min(blanks) + offset.min(blanks.saturating_sub(indent));
                self.plain_from += skipped;
                self.at += skipped;
            }
            self.at = line_end.map_or(self.bytes.len(), |end| end + 1);
            if line_end.is_some() {
                self.flush();
                self.end.line = self.at;
                self.settled = Some((self.at, self.html.len()));
            }
        }
        Some(())
    }

    /// The fence is closed. If it stays as it is, plain, that is all; else the parser reads it again.
    fn close_plainly(&mut self, next_line: usize) -> Option<()> {
        let opened = self.end.opened?;
        let is_plain = !self.html.starts_with("<div class=\"code\" data-lang=");
        if !is_plain && self.at - opened <= HEAVY + LONGEST_INFO {
            return None;
        }
        self.at = next_line;
        self.plain_from = next_line;
        self.settled = Some((next_line, self.html.len()));
        self.closed = true;
        Some(())
    }
}
