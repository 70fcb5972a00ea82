//! The best of the newest matches.
//!
//! FTS5's own ranking weighs a word by how many items have it, which means reading all of them: with a million items a
//! common word took nearly a second. Here only the newest matches are read, in index order, and ranked by how often
//! they contain the query and how short they are.

use liminal_contract::{ItemId, SessionId, Timestamp};
use rusqlite::{Connection, Row, params};

/// How many of the newest matches are ranked.
pub const NEWEST: usize = 500;

/// Marks around a match; they can't be typed, and are removed from indexed text.
pub const BEGIN: char = '\u{1}';
pub const END: char = '\u{2}';

/// A longer text is not read for ranking, so that ranking stays cheap whatever the matches contain.
const LONG: i64 = 4 * 1024;

/// The words in a snippet, and how many of them come before the first match.
const WORDS: usize = 24;
const BEFORE: usize = 8;

/// An item that matches.
pub struct Found {
    pub session: SessionId,
    pub item: ItemId,
    pub index: u64,
    /// When it started.
    pub at: Timestamp,
    pub kind: String,
    /// An excerpt, with marks.
    pub snippet: String,
}

struct Candidate {
    id: i64,
    size: i64,
    /// The whole text with marks; `None` when it is long.
    marked: Option<String>,
}

/// The best matches, and one more than the limit if there is one.
pub fn best(connection: &Connection, wanted: &str, limit: usize) -> rusqlite::Result<Vec<Found>> {
    let mut newest = connection
        .prepare_cached(
            "SELECT rowid, (SELECT size FROM doc WHERE id = words.rowid),
                CASE WHEN (SELECT size FROM doc WHERE id = words.rowid) <= ?2
                     THEN highlight(words, 0, char(1), char(2)) END
             FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?3",
        )?
        .query_map(params![wanted, LONG, NEWEST as i64], |row| {
            Ok(Candidate { id: row.get(0)?, size: row.get(1)?, marked: row.get(2)? })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let usual = newest.iter().map(|found| found.size).sum::<i64>() as f64 / newest.len() as f64;
    // The sort is stable: among equals the newest stays first.
    newest.sort_by(|a, b| b.score(usual).total_cmp(&a.score(usual)));
    let mut found = Vec::new();
    for candidate in newest.into_iter().take(limit + 1) {
        found.extend(candidate.read(connection, wanted)?);
    }
    Ok(found)
}

impl Candidate {
    /// Twice as many matches are not twice as good, and a match in a short text is worth more than in a long one.
    fn score(&self, usual: f64) -> f64 {
        let marks =
            self.marked.as_ref().map_or(1, |text| text.matches(BEGIN).count().max(1)) as f64;
        marks / (marks + 1.2 * (0.25 + 0.75 * self.size as f64 / usual))
    }

    /// `None` when its session id is not valid.
    fn read(self, connection: &Connection, wanted: &str) -> rusqlite::Result<Option<Found>> {
        let snippet = match &self.marked {
            Some(marked) => piece(marked),
            None => connection
                .prepare_cached(
                    "SELECT snippet(words, 0, char(1), char(2), '…', 24) FROM words
                     WHERE words MATCH ?1 AND rowid = ?2",
                )?
                .query_row(params![wanted, self.id], |row| row.get(0))?,
        };
        connection
            .prepare_cached("SELECT session, item, idx, at, kind FROM doc WHERE id = ?1")?
            .query_row([self.id], |row| Ok(found(row, snippet)))?
    }
}

fn found(row: &Row<'_>, snippet: String) -> rusqlite::Result<Option<Found>> {
    let Ok(session) = SessionId::parse(row.get_ref(0)?.as_str()?) else { return Ok(None) };
    Ok(Some(Found {
        session,
        item: ItemId::new(row.get::<_, String>(1)?),
        index: row.get::<_, i64>(2)?.cast_unsigned(),
        at: Timestamp::from_millis(row.get(3)?),
        kind: row.get(4)?,
        snippet,
    }))
}

/// The words around the first match.
fn piece(marked: &str) -> String {
    let words: Vec<&str> = marked.split(' ').collect();
    let first = words.iter().position(|word| word.contains(BEGIN)).unwrap_or(0);
    let from = first.saturating_sub(BEFORE);
    let to = (from + WORDS).min(words.len());
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", cut(from > 0), words[from..to].join(" "), cut(to < words.len()))
}

#[cfg(test)]
mod tests {
    use super::{Candidate, piece};

    #[test]
    fn a_piece_is_cut_around_the_first_match() {
        assert_eq!(piece("Retry the \u{1}payment\u{2} now "), "Retry the \u{1}payment\u{2} now ");
        let long = format!("{}\u{1}needle\u{2}{}", "hay ".repeat(40), " straw".repeat(40));
        let cut = piece(&long);
        assert!(cut.starts_with("…hay hay") && cut.ends_with("straw straw…"), "{cut}");
        assert_eq!((cut.split(' ').count(), cut.matches("hay").count()), (24, 8));
        assert_eq!(piece(""), "");
    }

    #[test]
    fn more_matches_in_fewer_words_are_better() {
        let score = |marked: &str, size| {
            Candidate { id: 0, size, marked: Some(marked.to_owned()) }.score(100.0)
        };
        assert!(score("\u{1}a\u{2} \u{1}a\u{2}", 100) > score("\u{1}a\u{2} b", 100));
        assert!(score("\u{1}a\u{2}", 50) > score("\u{1}a\u{2}", 100));
        assert!(
            score("\u{1}a\u{2}", 100)
                > Candidate { id: 0, size: 99_999, marked: None }.score(100.0)
        );
    }
}
