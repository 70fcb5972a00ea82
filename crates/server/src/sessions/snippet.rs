//! Where an edit is in its file: many agents send only the lines they change, so the file tells their numbers.
//!
//! The number is kept with the edit. It is looked up while the edit is news, because the file is not the same later.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use liminal_stream::SourcePart;
use rustix::fs::{CWD, Mode, OFlags, openat};

/// In bytes. Larger files are not searched.
const LARGEST: u64 = 4 << 20;

/// Whether any part may be an edit of some lines.
pub fn is_any_in(parts: &[SourcePart]) -> bool {
    parts.iter().any(|part| texts(part).is_some())
}

/// Sets the first line of each edit. `before` are the parts of the same item so far: what they knew is kept, and an
/// edit that was not found then is looked for again only at the end. Relative paths are in `directory`.
pub fn find(parts: &mut [SourcePart], before: &[SourcePart], is_final: bool, directory: &Path) {
    let mut files: HashMap<String, Option<String>> = HashMap::new();
    for part in parts {
        let known = before.iter().find(|known| is_same_edit(known, part)).map(first_line);
        let found = match (known, texts(part)) {
            (Some(Some(line)), _) => Some(line),
            (Some(None), _) if !is_final => None,
            (Some(None) | None, Some((path, old, new))) => {
                let file =
                    files.entry(path.to_owned()).or_insert_with(|| read(&directory.join(path)));
                file.as_deref().and_then(|file| line_of(file, old, new))
            }
            (Some(None) | None, None) => None,
        };
        if let SourcePart::Diff { line, .. } = part {
            *line = found;
        }
    }
}

/// Path, old and new text of an edit.
fn texts(part: &SourcePart) -> Option<(&str, &str, &str)> {
    match part {
        SourcePart::Diff { path, old: Some(old), new: Some(new), .. } if !old.is_empty() => {
            Some((path, old, new))
        }
        _ => None,
    }
}

fn is_same_edit(known: &SourcePart, part: &SourcePart) -> bool {
    texts(known).is_some_and(|known| texts(part) == Some(known))
}

fn first_line(part: &SourcePart) -> Option<u32> {
    match part {
        SourcePart::Diff { line, .. } => *line,
        _ => None,
    }
}

/// The line at which the edit begins, whether the file has its old or its new text.
///
/// The longer one decides, because it may contain the other: after an edit that adds a line before `old`, both are in
/// the file, and only `new` begins where the edit does.
fn line_of(file: &str, old: &str, new: &str) -> Option<u32> {
    let file = if old.contains('\r') { file.into() } else { without_returns(file) };
    let (first, second) = if new.len() > old.len() { (new, old) } else { (old, new) };
    let at = [first, second].into_iter().filter(|text| !text.is_empty());
    let at = at.filter_map(|text| file.find(text)).next()?;
    let before = file.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(before + 1).ok()
}

/// Agents leave out the carriage returns of a file that has them.
fn without_returns(file: &str) -> std::borrow::Cow<'_, str> {
    if file.contains('\r') { file.replace("\r\n", "\n").into() } else { file.into() }
}

/// `None` for a file that is not there, is no text, or is too large. Never waits, as reading a named pipe would.
fn read(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).ok()?);
    let about = file.metadata().ok().filter(|about| about.is_file() && about.len() <= LARGEST)?;
    let mut text = String::with_capacity(usize::try_from(about.len()).unwrap_or_default());
    file.take(about.len()).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, line: Option<u32>) -> SourcePart {
        let (old, new) = (Some(old.to_owned()), Some(new.to_owned()));
        SourcePart::Diff { path: "a.txt".to_owned(), old, new, line }
    }

    #[test]
    fn an_edit_is_found_before_and_after_it_is_made() {
        for (old, new, claim) in [
            ("three", "3", "a line is replaced"),
            ("three", "two and a half\nthree", "a line is added before another"),
            ("three", "three\nthree and a half", "a line is added after another"),
            ("three\nfour", "four", "a line is removed before another"),
            ("three\nfour\n", "", "lines are removed"),
            ("hree\nfou", "HREE", "it begins within a line"),
        ] {
            let file = "one\ntwo\nthree\nfour\nfive\n";
            assert_eq!(line_of(file, old, new), Some(3), "before: {claim}");
            let after = file.replacen(old, new, 1);
            let expected = (!new.is_empty()).then_some(3);
            assert_eq!(line_of(&after, old, new), expected, "after: {claim}");
            let file = file.replace('\n', "\r\n");
            assert_eq!(line_of(&file, old, new), Some(3), "with carriage returns: {claim}");
        }
        assert_eq!(line_of("one\n", "two", "2"), None);
    }

    #[test]
    fn a_line_found_once_is_kept_while_the_file_changes() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.txt");
        std::fs::write(&file, "one\ntwo\n").unwrap();
        let mut asked = [edit("two", "2", None)];
        find(&mut asked, &[], false, directory.path());
        assert_eq!(asked, [edit("two", "2", Some(2))]);
        std::fs::write(&file, "zero\none\n2\n").unwrap();
        let mut ended = [edit("two", "2", None), edit("zero", "0", None)];
        find(&mut ended, &asked, true, directory.path());
        assert_eq!(ended, [edit("two", "2", Some(2)), edit("zero", "0", Some(1))]);
        let (mut running, unfound) = ([edit("one", "1", None)], [edit("one", "1", None)]);
        find(&mut running, &unfound, false, directory.path());
        assert_eq!(running, unfound, "it is not looked for at every update");
        find(&mut running, &unfound, true, directory.path());
        assert_eq!(running, [edit("one", "1", Some(2))]);
    }

    #[test]
    fn only_a_readable_text_of_moderate_size_is_searched() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let mut mkfifo = std::process::Command::new("mkfifo");
        assert!(mkfifo.arg(path("pipe")).status().unwrap().success());
        std::fs::write(path("bytes"), [0xff, b'\n']).unwrap();
        let large = File::create(path("large")).unwrap();
        large.set_len(LARGEST + 1).unwrap();
        for name in ["missing", "pipe", "bytes", "large", ""] {
            assert_eq!(read(&path(name)), None, "{name}");
        }
    }
}
