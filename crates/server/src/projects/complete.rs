//! Completes the directory path that the user is typing.

use std::fs;

use super::path::expand_home;

/// Nobody reads more suggestions than this.
const MOST: usize = 50;

/// The directories whose path starts with `prefix`, spelled the same way (`~` stays `~`), in alphabetical order. Hidden
/// ones only when the dot was typed. Reads the disk, so it may block.
pub fn completions(prefix: &str) -> Vec<String> {
    let prefix = if matches!(prefix, "" | "~") { "~/" } else { prefix };
    let Some(slash) = prefix.rfind('/') else { return Vec::new() };
    let (directory, begun) = prefix.split_at(slash + 1);
    let Some(path) = expand_home(directory).filter(|path| path.is_absolute()) else {
        return Vec::new();
    };
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };

    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let wanted =
                name.starts_with(begun) && (begun.starts_with('.') || !name.starts_with('.'));
            // `is_dir` follows links, as adding the project will.
            (wanted && entry.path().is_dir()).then(|| format!("{directory}{name}"))
        })
        .collect();
    found.sort_unstable();
    found.truncate(MOST);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_continued_by_directories() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["code", "coffee", "docs", ".config"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("cobol.txt"), "").unwrap();
        std::os::unix::fs::symlink(dir.path().join("docs"), dir.path().join("col")).unwrap();
        let base = dir.path().to_str().unwrap();
        let complete = |rest: &str| -> Vec<String> {
            completions(&format!("{base}/{rest}"))
                .iter()
                .map(|entry| entry.strip_prefix(&format!("{base}/")).unwrap().to_owned())
                .collect()
        };
        assert_eq!(complete("co"), ["code", "coffee", "col"]);
        assert_eq!(complete(""), ["code", "coffee", "col", "docs"]);
        assert_eq!(complete("."), [".config"]);
        assert_eq!(complete("x"), [""; 0]);
        assert_eq!(complete("code/"), [""; 0]);
        assert_eq!(complete("missing/x"), [""; 0]);
    }

    #[test]
    fn relative_paths_have_no_continuation() {
        assert_eq!(completions("src"), [""; 0]);
        assert_eq!(completions("./"), [""; 0]);
        assert_eq!(completions("~somebody/"), [""; 0]);
    }
}
