//! Files that a message mentions as `@path` or, with spaces, as `@"path"`; with lines as `@path:10-20`.

use std::path::{Path, PathBuf};

/// More mentions than this are not made of one message.
const MOST_MENTIONS: usize = 50;

/// More words with an `@` than this are not looked up on disk.
const MOST_WORDS: usize = 500;

/// In characters. No system has longer paths.
const LONGEST_PATH: usize = 4096;

/// A mentioned file or directory that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// As it was written, relative to the workspace.
    pub path: String,
    /// First and last, counted from 1.
    pub lines: Option<(u32, u32)>,
}

/// The mentions in a message that name something inside the workspace; other words with an `@` are only words.
pub fn mentions(text: &str, workspace: &Path) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let (mut before, mut words) = (' ', 0);
    for (at, letter) in text.char_indices() {
        if letter == '@' && !before.is_alphanumeric() && before != '@' {
            words += 1;
            if words > MOST_WORDS || found.len() == MOST_MENTIONS {
                break;
            }
            let exists = |mention: &Mention| within(&mention.path, workspace).is_some();
            let mention = named(&text[at + 1..]).into_iter().find(exists);
            found.extend(mention.filter(|new| !found.contains(new)));
        }
        before = letter;
    }
    found
}

/// The canonical path of something inside the workspace.
pub fn within(path: &str, workspace: &Path) -> Option<PathBuf> {
    if path.is_empty() || path.contains('\0') {
        return None;
    }
    let workspace = workspace.canonicalize().ok()?;
    workspace.join(path).canonicalize().ok().filter(|path| path.starts_with(&workspace))
}

/// What the words after an `@` may name: a quoted path, or the next word with and without the punctuation after it.
fn named(rest: &str) -> Vec<Mention> {
    let mention = |path: &str, lines| Mention { path: path.to_owned(), lines };
    if let Some(quoted) = rest.strip_prefix('"') {
        let Some((path, length)) = unquoted(quoted) else { return Vec::new() };
        let after: String = quoted[length..].chars().take_while(|c| !c.is_whitespace()).collect();
        let lines = after.strip_prefix(':').and_then(|lines| lines_of(bare(lines)));
        return vec![mention(&path, lines)];
    }
    let word: String =
        rest.chars().take_while(|letter| !letter.is_whitespace()).take(LONGEST_PATH).collect();
    let bare = bare(&word);
    let with_lines =
        bare.rsplit_once(':').and_then(|(path, lines)| Some(mention(path, Some(lines_of(lines)?))));
    [mention(&word, None), mention(bare, None)].into_iter().chain(with_lines).collect()
}

/// Without the punctuation after it.
fn bare(word: &str) -> &str {
    word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`'])
}

/// `10-20`, or `10` for one line.
fn lines_of(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last).then_some((first, last))
}

/// Up to the closing quote, and how many bytes that took; a backslash protects a quote or a backslash.
fn unquoted(text: &str) -> Option<(String, usize)> {
    let mut path = String::new();
    let mut letters = text.char_indices().take(LONGEST_PATH);
    loop {
        match letters.next()? {
            (at, '"') => return Some((path, at + 1)),
            (_, '\\') => path.push(letters.next()?.1),
            (_, letter) => path.push(letter),
        }
    }
}

/// A `file:` URI.
pub fn file_uri(path: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut uri = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _never_fails = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_exists_inside_the_project_is_a_mention() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(project.join("src")).unwrap();
        for name in ["src/main.rs", "my notes.md", "a \"b\" c.md", "é.txt", "../secret"] {
            std::fs::write(project.join(name), "").unwrap();
        }
        let flood = format!("{} @src/main.rs", "@".repeat(200_000));
        assert_eq!(mentions(&flood, &project).len(), 1, "and it takes no time to speak of");
        std::os::unix::fs::symlink(home.path().join("secret"), project.join("out")).unwrap();
        let named = |text: &str| -> Vec<String> {
            mentions(text, &project).into_iter().map(|mention| mention.path).collect()
        };
        for (text, names) in [
            ("look at @src/main.rs, and (@src).", vec!["src/main.rs", "src"]),
            ("@src/main.rs @src/main.rs", vec!["src/main.rs"]),
            ("@\"my notes.md\"", vec!["my notes.md"]),
            (r#"@"a \"b\" c.md" now"#, vec!["a \"b\" c.md"]),
            ("me@src is a mail address, @nobody is gone", vec![]),
            ("@../secret @out @/etc/passwd @", vec![]),
            ("@\"unclosed", vec![]),
        ] {
            assert_eq!(named(text), names, "{text}");
        }
        let uri = file_uri(&project.join("é.txt"));
        assert_eq!(uri, format!("file://{}/%C3%A9.txt", project.display()));
        let lines = |text: &str| -> Vec<_> {
            mentions(text, &project).into_iter().map(|mention| mention.lines).collect()
        };
        assert_eq!(lines("@src/main.rs:10-20, @src/main.rs:7."), [Some((10, 20)), Some((7, 7))]);
        assert_eq!(lines("@\"my notes.md\":3-4"), [Some((3, 4))]);
        for none in ["@src/main.rs:20-10", "@src/main.rs:0-3", "@src/main.rs:x", "@gone:1-2"] {
            assert_eq!(lines(none), [], "{none}");
        }
    }
}
