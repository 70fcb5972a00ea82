//! One block of changed lines, taken back.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Adjacent changed lines: the first on either side, counted from 1, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub old: (usize, usize),
    pub new: (usize, usize),
}

impl Block {
    /// Reads `<first old>,<how many>:<first new>,<how many>`.
    pub fn parse(text: &str) -> Option<Self> {
        let side = |text: &str| {
            let (first, count) = text.split_once(',')?;
            Some((first.parse().ok()?, count.parse().ok()?))
        };
        let (old, new) = text.split_once(':')?;
        Some(Self { old: side(old)?, new: side(new)? })
    }
}

impl std::fmt::Display for Block {
    /// As `parse` reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ((old, removed), (new, added)) = (self.old, self.new);
        write!(f, "{old},{removed}:{new},{added}")
    }
}

/// The new text with one of its blocks as in the old text; `None` if there is no such block. A side without lines is
/// found by the other one.
pub fn without_block(old: &str, new: &str, block: Block) -> Option<String> {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let ended = |lines: &[&str]| -> Vec<String> {
        // As in `diff`: if both sides lack the final newline, that means nothing.
        let both_lack = !old.ends_with('\n') && !new.ends_with('\n');
        let add = |line: &&str| both_lack && !line.ends_with('\n');
        lines
            .iter()
            .map(|line| if add(line) { format!("{line}\n") } else { (*line).into() })
            .collect()
    };
    let ops = capture_diff_slices(Algorithm::Myers, &ended(&old_lines), &ended(&new_lines));
    let mut blocks: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> = Vec::new();
    let mut goes_on = false;
    for op in ops {
        if op.tag() == DiffTag::Equal {
            goes_on = false;
            continue;
        }
        match blocks.last_mut().filter(|_| goes_on) {
            Some((old, new)) => {
                old.end = op.old_range().end;
                new.end = op.new_range().end;
            }
            None => blocks.push((op.old_range(), op.new_range())),
        }
        goes_on = true;
    }
    let is_it = |(first, count): (usize, usize), range: &std::ops::Range<usize>| {
        count == range.len() && (count == 0 || first == range.start + 1)
    };
    let (old_range, new_range) = blocks.into_iter().find(|(old, new)| {
        is_it(block.old, old) && is_it(block.new, new) && old.len() + new.len() > 0
    })?;
    let mut text = new_lines[..new_range.start].concat();
    let (put, rest) = (&old_lines[old_range.clone()], &new_lines[new_range.end..]);
    for line in put {
        text.push_str(line);
    }
    if !rest.is_empty() && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&rest.concat());
    // The end of the text is the old one's again, and so is its last line.
    if rest.is_empty()
        && old_range.end == old_lines.len()
        && !old.ends_with('\n')
        && text.ends_with('\n')
    {
        text.pop();
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reverted(old: &str, new: &str, block: &str) -> Option<String> {
        without_block(old, new, Block::parse(block).unwrap())
    }

    #[test]
    fn one_block_goes_and_the_others_stay() {
        let (old, new) = ("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n");
        assert_eq!(reverted(old, new, "2,1:2,1").unwrap(), "a\nb\nc\nd\ne\n");
        assert_eq!(reverted(old, new, "0,0:5,1").unwrap(), "a\nB\nc\nd\n");
        assert_eq!(reverted(old, new, "3,1:3,1"), None);
        assert_eq!(reverted("a\nb\n", "b\n", "1,1:0,0").unwrap(), "a\nb\n");
        assert_eq!(reverted("a", "b", "1,1:1,1").unwrap(), "a");
        assert_eq!(reverted("x\na", "a", "1,1:0,0").unwrap(), "x\na");
        assert_eq!(reverted("a", "a\nb", "0,0:2,1").unwrap(), "a");
    }

    #[test]
    fn nonsense_is_no_block() {
        for text in ["", "1", "1,1", "1,1:1", "a,b:c,d", "-1,1:1,1", "1,1:1,1,1"] {
            assert_eq!(Block::parse(text), None, "{text}");
        }
    }
}
