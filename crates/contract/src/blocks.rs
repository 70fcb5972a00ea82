//! The rendered blocks of a text.

use std::fmt;

use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Safe HTML, one string per top-level block. All of them are in one piece of memory: a long text has many thousands,
/// most of them short.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    html: String,
    /// Where each block ends.
    ends: Vec<usize>,
}

impl Blocks {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.html[start..end])
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Of all blocks together, in bytes.
    pub fn bytes(&self) -> usize {
        self.html.len()
    }

    /// Keeps the blocks before `from` and the first `keep` bytes of that block, which the first of the new ones
    /// continues; the others follow it.
    pub fn splice(&mut self, from: usize, keep: usize, new: &[String]) {
        let start = |at: usize| at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let kept = if new.is_empty() || from >= self.ends.len() { 0 } else { keep };
        let end = start(from.min(self.ends.len())) + kept;
        self.html.truncate(end);
        self.ends.truncate(from);
        self.extend(new);
    }

    fn push(&mut self, block: &str) {
        self.html.push_str(block);
        self.ends.push(self.html.len());
    }
}

impl<S: AsRef<str>> Extend<S> for Blocks {
    fn extend<I: IntoIterator<Item = S>>(&mut self, blocks: I) {
        blocks.into_iter().for_each(|block| self.push(block.as_ref()));
    }
}

impl<S: AsRef<str>> FromIterator<S> for Blocks {
    fn from_iter<I: IntoIterator<Item = S>>(blocks: I) -> Self {
        let mut all = Self::default();
        all.extend(blocks);
        all
    }
}

impl Serialize for Blocks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Blocks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Blocks;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of blocks")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Blocks, A::Error> {
                let mut blocks = Blocks::default();
                while list.next_element_seed(Next(&mut blocks))?.is_some() {}
                Ok(blocks)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// Reads one block to the end of those before it.
struct Next<'a>(&'a mut Blocks);

impl<'de> DeserializeSeed<'de> for Next<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Next<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a block")
    }

    fn visit_str<E>(self, block: &str) -> Result<(), E> {
        self.0.push(block);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(blocks: &Blocks) -> Vec<&str> {
        blocks.iter().collect()
    }

    #[test]
    fn blocks_are_a_list_of_strings_on_the_wire() {
        let blocks: Blocks = ["<p>one</p>", "", "<p>\"two\"</p>"].into_iter().collect();
        let json = serde_json::to_string(&blocks).unwrap();
        assert_eq!(json, r#"["<p>one</p>","","<p>\"two\"</p>"]"#);
        assert_eq!(serde_json::from_str::<Blocks>(&json).unwrap(), blocks);
        assert_eq!(serde_json::from_str::<Blocks>("[]").unwrap(), Blocks::default());
        assert!(serde_json::from_str::<Blocks>("[1]").is_err());
    }

    #[test]
    fn the_end_of_the_list_is_replaced() {
        let mut blocks: Blocks = ["<p>one</p>", "<p>tw</p>"].into_iter().collect();
        blocks.splice(1, 5, &["o</p>".to_owned(), "<hr>".to_owned()]);
        assert_eq!(list(&blocks), ["<p>one</p>", "<p>two</p>", "<hr>"]);
        blocks.splice(3, 0, &["<p>x</p>".to_owned()]);
        assert_eq!(list(&blocks), ["<p>one</p>", "<p>two</p>", "<hr>", "<p>x</p>"]);
        blocks.splice(1, 3, &[]);
        assert_eq!(list(&blocks), ["<p>one</p>"]);
        blocks.splice(0, 0, &["a".to_owned()]);
        assert_eq!((list(&blocks), blocks.bytes()), (vec!["a"], 1));
    }
}
