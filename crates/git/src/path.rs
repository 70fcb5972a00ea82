//! A path in a repository: any bytes but zero.

use std::ffi::OsStr;
use std::fmt::{Display, Formatter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Relative to the topmost directory. Displayed as it is if it is UTF-8 without control characters; otherwise in
/// quotes with the bytes in octal, as git does, so that two paths never look the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

/// As input for git: each before a zero byte.
pub(crate) fn joined(paths: &[RepoPath]) -> Vec<u8> {
    let mut joined = Vec::new();
    for path in paths {
        joined.extend_from_slice(path.as_bytes());
        joined.push(0);
    }
    joined
}

/// Characters that are invisible or change the order in which others are shown.
fn hides(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl Display for RepoPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.chars().any(hides) && !text.starts_with('"') => f.write_str(text),
            Ok(_) | Err(_) => {
                f.write_char('"')?;
                for &byte in &self.0 {
                    match byte {
                        b'"' | b'\\' => write!(f, "\\{}", char::from(byte))?,
                        b'\n' => f.write_str("\\n")?,
                        b'\t' => f.write_str("\\t")?,
                        b' '..=b'~' => f.write_char(char::from(byte))?,
                        _ => write!(f, "\\{byte:03o}")?,
                    }
                }
                f.write_char('"')
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RepoPath;

    #[test]
    fn a_path_is_shown_as_it_is_or_in_quotes() {
        let shown = |bytes: &[u8]| RepoPath::new(bytes).to_string();
        assert_eq!(shown("src/grün und weiß.rs".as_bytes()), "src/grün und weiß.rs");
        assert_eq!(shown(b"a\nb\t\"c\\"), r#""a\nb\t\"c\\""#);
        assert_eq!(shown(b"\xff.txt"), r#""\377.txt""#);
        assert_eq!(shown("a\u{202e}b".as_bytes()), r#""a\342\200\256b""#);
        assert_eq!(shown(b"\"\\377.txt\""), r#""\"\\377.txt\"""#, "not the same as the one above");
    }
}
