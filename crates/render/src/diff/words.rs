//! Finds the words of a changed line that differ from the line it replaced.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Lines with more words are data, not prose or code: marking words would cost more than it helps.
const MOST_WORDS: usize = 300;

/// The byte ranges that differ in the old and in the new line. Empty if the lines have too little in common for marks
/// to help.
pub(super) fn changed(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len().max(new_words.len()) > MOST_WORDS {
        return (Vec::new(), Vec::new());
    }
    let ops = capture_diff_slices(Algorithm::Myers, &old_words, &new_words);
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let shared: usize = ops
        .iter()
        .filter(|op| op.tag() == DiffTag::Equal)
        .map(|op| old_words[op.old_range()].iter().map(|word| word.trim().len()).sum::<usize>())
        .sum();
    if shared * 3 < old.trim().len().max(new.trim().len()) {
        return (Vec::new(), Vec::new());
    }
    let (mut in_old, mut in_new) = (Vec::new(), Vec::new());
    for op in ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
        let place = |words: &[&str], range: Range<usize>| {
            let from = length(&words[..range.start]);
            from..from + length(&words[range])
        };
        push(&mut in_old, place(&old_words, op.old_range()));
        push(&mut in_new, place(&new_words, op.new_range()));
    }
    (in_old, in_new)
}

fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    if !range.is_empty() {
        ranges.push(range);
    }
}

/// A line in words, runs of blanks, and single other characters.
fn words(line: &str) -> Vec<&str> {
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            1
        } else if c.is_whitespace() {
            2
        } else {
            0
        }
    };
    let mut words = Vec::new();
    let mut from = 0;
    let mut last = None;
    for (at, c) in line.char_indices() {
        if last.is_some_and(|last| last == 0 || last != kind(c)) {
            words.push(&line[from..at]);
            from = at;
        }
        last = Some(kind(c));
    }
    if from < line.len() {
        words.push(&line[from..]);
    }
    words
}
