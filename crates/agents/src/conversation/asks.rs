//! An agent's open permissions, by the item that shows each.

use liminal_contract::ItemId;

/// The permissions that wait for an answer, oldest first. `Q` is what the wire needs to answer one.
#[derive(Debug)]
pub(crate) struct Asks<Q>(Vec<(ItemId, Q)>);

/// Why an answer was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// The permission is no longer open.
    Closed,
    /// The agent did not offer that answer.
    NotOffered,
}

impl<Q> Default for Asks<Q> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Q> Asks<Q> {
    pub fn open(&mut self, item: ItemId, question: Q) {
        self.0.push((item, question));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Closes a permission with the result of `reply`. If that is `None`, the agent did not offer the answer and the
    /// permission stays open.
    pub fn answer<R>(
        &mut self,
        item: &ItemId,
        reply: impl FnOnce(&Q) -> Option<R>,
    ) -> Result<(Q, R), NotTaken> {
        let at = self.0.iter().position(|(asked, _)| asked == item).ok_or(NotTaken::Closed)?;
        let reply = reply(&self.0[at].1).ok_or(NotTaken::NotOffered)?;
        Ok((self.0.remove(at).1, reply))
    }

    /// Closes the matching permissions without an answer.
    pub fn void(&mut self, mut meant: impl FnMut(&Q) -> bool) -> Vec<(ItemId, Q)> {
        self.0.extract_if(.., |(_, question)| meant(question)).collect()
    }

    #[cfg(test)]
    pub fn first(&self) -> Option<&ItemId> {
        self.0.first().map(|(item, _)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks() -> Asks<&'static str> {
        let mut asks = Asks::default();
        for (item, question) in [("a", "read"), ("b", "write"), ("c", "read")] {
            asks.open(ItemId::new(item), question);
        }
        asks
    }

    #[test]
    fn a_question_is_answered_once() {
        let mut asks = asks();
        let item = ItemId::new("b");
        assert_eq!(asks.answer(&item, |question| Some(question.len())), Ok(("write", 5)));
        assert_eq!(asks.answer(&item, |_| Some(())), Err(NotTaken::Closed));
        assert_eq!(asks.first(), Some(&ItemId::new("a")));
    }

    #[test]
    fn an_answer_that_was_not_offered_leaves_the_question_open() {
        let mut asks = asks();
        let item = ItemId::new("a");
        assert_eq!(asks.answer(&item, |_| None::<()>), Err(NotTaken::NotOffered));
        assert_eq!(asks.answer(&item, |_| Some(())), Ok(("read", ())));
    }

    #[test]
    fn only_what_is_meant_is_void() {
        let mut asks = asks();
        let void = asks.void(|question| *question == "read");
        assert_eq!(void, [(ItemId::new("a"), "read"), (ItemId::new("c"), "read")]);
        assert_eq!(asks.void(|_| true), [(ItemId::new("b"), "write")]);
        assert!(asks.is_empty());
    }
}
