//! The names of one workspace, close together in memory, and which of them match.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use liminal_contract::{FileEntry, FileKind};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

#[derive(Debug, Default)]
pub struct Index {
    /// All paths, one after another.
    text: String,
    /// Where each path ends.
    ends: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Best first.
    pub entries: Vec<FileEntry>,
    /// Whether more match.
    pub more: bool,
}

impl Index {
    pub fn of(names: impl Iterator<Item = String>) -> Self {
        let mut index = Self::default();
        for name in names {
            index.text.push_str(&name);
            index.ends.push(index.text.len());
        }
        index.text.shrink_to_fit();
        index.ends.shrink_to_fit();
        index
    }

    pub fn find(&self, query: &str, limit: usize) -> Found {
        let atom = AtomKind::Fuzzy;
        let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, atom);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let mut best = BinaryHeap::with_capacity(limit + 1);
        let mut buffer = Vec::new();
        let mut count = 0_usize;
        for path in self.paths() {
            if query.is_empty() && path.trim_end_matches('/').contains('/') {
                continue;
            }
            let Some(score) = pattern.score(Utf32Str::new(path, &mut buffer), &mut matcher) else {
                continue;
            };
            count += 1;
            // Of equal matches the shorter path is nearer, and then the alphabet decides.
            best.push((Reverse(score), path.len(), path));
            if best.len() > limit {
                best.pop();
            }
        }
        let entry = |(_, _, path): (Reverse<u32>, usize, &str)| {
            let mut matched = Vec::new();
            pattern.indices(Utf32Str::new(path, &mut buffer), &mut matcher, &mut matched);
            matched.sort_unstable();
            matched.dedup();
            match path.strip_suffix('/') {
                Some(path) => {
                    FileEntry { path: path.to_owned(), kind: FileKind::Directory, matched }
                }
                None => FileEntry { path: path.to_owned(), kind: FileKind::File, matched },
            }
        };
        Found {
            more: count > limit,
            entries: best.into_sorted_vec().into_iter().map(entry).collect(),
        }
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).filter_map(|(start, end)| self.text.get(start..*end))
    }
}
