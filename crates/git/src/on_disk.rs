//! Whether a file on disk is what a tree has of it. git doesn't look at ignored files, nor at those that it was told to
//! skip, and it converts line ends; so a tree can lack a file that exists, or have another version of it.

use std::fs;
use std::path::Path;

use crate::RepoPath;
use crate::file::Links;
use crate::restore::Left;

/// Whether anything but a directory is at a path. What is beyond a link is another file.
pub fn is_there(root: &Path, path: &RepoPath) -> bool {
    let found = root.join(path.as_path()).symlink_metadata();
    found.is_ok_and(|found| !found.is_dir()) && !Links::in_tree(root).lead_to(path.as_path())
}

/// A file's bytes, unless it has more than these. What is beyond a link is another file.
pub fn read(root: &Path, path: &RepoPath, most: u64) -> Option<Vec<u8>> {
    if Links::in_tree(root).lead_to(path.as_path()) {
        return None;
    }
    let path = root.join(path.as_path());
    let found = path.symlink_metadata().ok()?;
    (found.is_file() && found.len() <= most).then(|| fs::read(path).ok())?
}

/// Whether nothing of a file is lost with it, apart from its line ends.
pub fn is_recorded(file: &[u8], recorded: &[u8]) -> bool {
    file == recorded || with_line_feeds(file) == with_line_feeds(recorded)
}

/// The new version as it replaces the file: with the line ends that it has. `recorded` is the file as git would write
/// it, and `new` what it would write instead.
pub fn replacement(file: &[u8], recorded: &[u8], new: Vec<u8>) -> Result<Vec<u8>, Left> {
    if file == recorded {
        return Ok(new);
    }
    if !is_recorded(file, recorded) {
        return Err(Left::NotRecorded);
    }
    let feeds = file.iter().filter(|&&byte| byte == b'\n').count();
    match pairs(file) {
        0 => Ok(with_line_feeds(&new)),
        pairs if pairs == feeds => Ok(with_pairs(&new)),
        _ => Err(Left::LineEnds),
    }
}

/// How many lines end with a carriage return and a line feed.
fn pairs(text: &[u8]) -> usize {
    text.windows(2).filter(|two| two == b"\r\n").count()
}

fn with_line_feeds(text: &[u8]) -> Vec<u8> {
    let is_extra = |at: usize| text[at] == b'\r' && text.get(at + 1) == Some(&b'\n');
    (0..text.len()).filter(|&at| !is_extra(at)).map(|at| text[at]).collect()
}

fn with_pairs(text: &[u8]) -> Vec<u8> {
    let pair = |byte| if byte == b'\n' { b"\r\n".to_vec() } else { vec![byte] };
    with_line_feeds(text).into_iter().flat_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_line_ends_and_one_that_was_not_recorded_is_not_replaced() {
        type Row<'a> = (&'a str, &'a str, Result<&'a str, Left>);
        let table: [Row<'_>; 6] = [
            ("a\nb\n", "a\nb\n", Ok("x\ny\r\n")),
            ("a\nb\n", "a\r\nb\r\n", Ok("x\ny\n")),
            ("a\r\nb\r\n", "a\nb\n", Ok("x\r\ny\r\n")),
            ("a\r\nb\n", "a\nb\n", Err(Left::LineEnds)),
            ("a\r\nother\n", "a\nb\n", Err(Left::NotRecorded)),
            ("", "a", Err(Left::NotRecorded)),
        ];
        for (file, recorded, expected) in table {
            let replaced = replacement(file.as_bytes(), recorded.as_bytes(), b"x\ny\r\n".to_vec());
            assert_eq!(replaced, expected.map(|text| text.as_bytes().to_vec()), "{file:?}");
        }
    }
}
