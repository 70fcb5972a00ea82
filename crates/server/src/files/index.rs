//! The names of one workspace, close together in memory, and which of them match.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, SystemTime};

use liminal_contract::{FileEntry, FileKind};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::walk::Name;

#[derive(Debug, Default)]
pub struct Index {
    /// All paths, one after another.
    text: String,
    /// Where each path ends.
    ends: Vec<usize>,
    /// Which paths changed lately, the last one first.
    recent: Vec<usize>,
}

/// So many files count as recently changed,
const MOST_RECENT: usize = 30;
/// if they changed within this time.
const LATELY: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// So many of them come before what is at the top.
const RECENT_FIRST: usize = 8;
/// What a recent change counts among matches: less than one more letter.
const RECENT_BONUS: u32 = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Best first.
    pub entries: Vec<FileEntry>,
    /// Whether more match.
    pub more: bool,
}

impl Index {
    pub fn of(names: impl Iterator<Item = Name>) -> Self {
        let mut index = Self::default();
        let since = SystemTime::now() - LATELY;
        // The oldest of them at the top, to be replaced.
        let mut recent = BinaryHeap::with_capacity(MOST_RECENT + 1);
        for Name { path, changed } in names {
            if let Some(changed) = changed.filter(|changed| *changed > since) {
                recent.push((Reverse(changed), index.ends.len()));
                if recent.len() > MOST_RECENT {
                    recent.pop();
                }
            }
            index.text.push_str(&path);
            index.ends.push(index.text.len());
        }
        index.recent = recent.into_sorted_vec().into_iter().map(|(_, at)| at).collect();
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
        for (at, path) in self.paths().enumerate() {
            let recent = self.recent.iter().position(|recent| *recent == at);
            let is_first = recent.is_some_and(|place| place < RECENT_FIRST);
            if query.is_empty() && !is_first && path.trim_end_matches('/').contains('/') {
                continue;
            }
            let Some(score) = pattern.score(Utf32Str::new(path, &mut buffer), &mut matcher) else {
                continue;
            };
            count += 1;
            let score = match recent {
                Some(place) if query.is_empty() => (RECENT_FIRST.saturating_sub(place)) as u32,
                // A name that was typed counts more than where a recent file happens to be.
                Some(_)
                    if pattern
                        .score(Utf32Str::new(name_of(path), &mut buffer), &mut matcher)
                        .is_some() =>
                {
                    score + RECENT_BONUS
                }
                Some(_) => score,
                None => score,
            };
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

fn name_of(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
