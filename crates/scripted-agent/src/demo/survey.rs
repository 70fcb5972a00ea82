//! Counts a project's files and lines, bounded so that no project is too large for a demo.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MOST_FILES: usize = 2_000;
/// In bytes. Lines of larger files are not counted.
const LARGEST_READ: u64 = 100_000;
/// Directories of build output and dependencies.
const SKIPPED: [&str; 6] = ["target", "node_modules", "dist", "build", "vendor", "venv"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) is_dir: bool,
}

/// The visible entries of a directory, subdirectories first.
pub(super) fn entries(dir: &Path) -> Vec<Entry> {
    let mut entries: Vec<Entry> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let metadata = entry.metadata().ok()?;
            Some(Entry { name, bytes: metadata.len(), is_dir: metadata.is_dir() })
        })
        .filter(|entry| !entry.name.starts_with('.'))
        .collect();
    entries.sort_by(|one, other| {
        other.is_dir.cmp(&one.is_dir).then_with(|| one.name.cmp(&other.name))
    });
    entries
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Survey {
    pub(super) files: usize,
    pub(super) bytes: u64,
    /// There are more files than `MOST_FILES`.
    pub(super) cut: bool,
    /// The largest file, relative to the project, and its size in bytes.
    pub(super) largest: Option<(String, u64)>,
    /// Number of files and lines, by file extension.
    pub(super) kinds: BTreeMap<String, (usize, usize)>,
}

impl Survey {
    pub(super) fn of(project: &Path) -> Self {
        let mut survey = Self::default();
        let mut pending = vec![project.to_path_buf()];
        while let Some(dir) = pending.pop() {
            for entry in entries(&dir) {
                let path = dir.join(&entry.name);
                // A link may lead out of the project or in circles, and a pipe may never end.
                if !entry.is_dir
                    && !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
                {
                    continue;
                }
                if entry.is_dir {
                    if !SKIPPED.contains(&entry.name.as_str()) {
                        pending.push(path);
                    }
                } else if survey.files == MOST_FILES {
                    survey.cut = true;
                    return survey;
                } else {
                    survey.count(project, &path, entry.bytes);
                }
            }
        }
        survey
    }

    /// The `n` kinds with the most lines.
    pub(super) fn top(&self, n: usize) -> Vec<(&str, usize, usize)> {
        let mut kinds: Vec<_> = self
            .kinds
            .iter()
            .map(|(kind, (files, lines))| (kind.as_str(), *files, *lines))
            .collect();
        kinds.sort_by(|one, other| other.2.cmp(&one.2).then_with(|| one.0.cmp(other.0)));
        kinds.truncate(n);
        kinds
    }

    fn count(&mut self, project: &Path, path: &PathBuf, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
        if self.largest.as_ref().is_none_or(|(_, most)| bytes > *most) {
            let name = path.strip_prefix(project).unwrap_or(path).display().to_string();
            self.largest = Some((name, bytes));
        }
        let kind = path
            .extension()
            .map_or_else(|| "no extension".into(), |ext| ext.to_string_lossy().into_owned());
        let lines = (bytes <= LARGEST_READ)
            .then(|| fs::read(path).ok())
            .flatten()
            .filter(|content| !content.contains(&0))
            .map_or(0, |content| content.split_inclusive(|byte| *byte == b'\n').count());
        let counted = self.kinds.entry(kind).or_default();
        counted.0 += 1;
        counted.1 += lines;
    }
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{}.{} KB", bytes / 1_000, bytes / 100 % 10),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}
