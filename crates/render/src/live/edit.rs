//! A change at the end of a list of blocks.

use crate::common_start;

/// Blocks before `from` stay. Of that block the first `keep` bytes stay, followed by the first of `blocks`; the other
/// `blocks` are whole, and the list ends with them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edit {
    pub from: usize,
    pub keep: usize,
    /// `keep` in UTF-16 units.
    pub keep_units: usize,
    pub blocks: Vec<String>,
}

impl Edit {
    /// `first` is the number of the first block of both lists.
    pub(super) fn between(before: &[String], after: &[String], first: usize) -> Self {
        let same = before.iter().zip(after).take_while(|(before, after)| before == after).count();
        let mut blocks = after[same..].to_vec();
        let (mut keep, mut keep_units) = (0, 0);
        if let (Some(before), Some(changed)) = (before.get(same), blocks.first_mut()) {
            (keep, keep_units) = common_start(before, changed);
            changed.drain(..keep);
        }
        Self { from: first + same, keep, keep_units, blocks }
    }

    /// Both changes as one.
    pub fn then(mut self, next: Self) -> Self {
        match next.from.checked_sub(self.from) {
            None => next,
            Some(0) if next.keep < self.keep => next,
            Some(at) => {
                let keep = if at == 0 { next.keep - self.keep } else { next.keep };
                splice(&mut self.blocks, at, keep, &next.blocks);
                self
            }
        }
    }

    pub fn apply(&self, blocks: &mut Vec<String>) {
        splice(blocks, self.from, self.keep, &self.blocks);
    }
}

fn splice(blocks: &mut Vec<String>, at: usize, keep: usize, new: &[String]) {
    blocks.truncate(at + 1);
    let Some((first, rest)) = new.split_first() else { return blocks.truncate(at) };
    match blocks.get_mut(at) {
        Some(changing) => {
            changing.truncate(keep);
            changing.push_str(first);
        }
        None => blocks.push(first.clone()),
    }
    blocks.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::Edit;

    fn list(blocks: &[&str]) -> Vec<String> {
        blocks.iter().map(|block| (*block).to_owned()).collect()
    }

    #[test]
    fn one_change_after_another_is_the_same_as_both_together() {
        let states: [&[&str]; 8] = [
            &[],
            &["<p>o</p>"],
            &["<p>one</p>"],
            &["<p>one</p>", "<p>é</p>"],
            &["<p>one</p>", "<p>è🦀</p>", "<hr>"],
            &["<p>one</p>", "<p>è🦀 and more</p>"],
            &["<p>or</p>"],
            &["<p>or</p>", "", "<ul><li>x</li></ul>"],
        ];
        for before in states {
            for between in states {
                for after in states {
                    let [before, between, after] = [list(before), list(between), list(after)];
                    let first = Edit::between(&before, &between, 0);
                    let both = first.then(Edit::between(&between, &after, 0));
                    let mut blocks = before.clone();
                    both.apply(&mut blocks);
                    assert_eq!(blocks, after, "{before:?} {between:?} {both:?}");
                }
            }
        }
    }
}
