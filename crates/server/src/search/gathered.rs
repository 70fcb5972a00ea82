//! Collects changed sessions, to index them together in numbered rounds.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use liminal_contract::SessionId;

/// How long the first change may wait: well under the second that the index may be behind.
const PATIENCE: Duration = Duration::from_millis(300);

/// The changed sessions, and when to index them.
#[derive(Debug, Default)]
pub struct Gathered {
    sessions: HashSet<SessionId>,
    due: Option<Instant>,
    /// How many rounds the indexer was given.
    rounds: u64,
}

impl Gathered {
    /// A session changed. The first change sets the deadline; later ones don't postpone it. Returns true for the first,
    /// which must wake the indexer.
    pub fn add(&mut self, session: SessionId, now: Instant) -> bool {
        self.sessions.insert(session);
        let is_first = self.due.is_none();
        self.due.get_or_insert(now + PATIENCE);
        is_first
    }

    /// A session was deleted.
    pub fn remove(&mut self, session: &SessionId) {
        self.sessions.remove(session);
    }

    /// When to index; `None` while nothing waits.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Starts a round of all sessions, to fill a new index.
    pub fn begin_round(&mut self) {
        self.rounds += 1;
    }

    /// How many rounds the indexer has started.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// How many rounds must be indexed before every change so far can be found.
    pub fn rounds_needed(&self) -> u64 {
        self.rounds + u64::from(self.due.is_some())
    }

    /// All of them, once they are due.
    pub fn take(&mut self, now: Instant) -> HashSet<SessionId> {
        if self.due.is_none_or(|due| now < due) {
            return HashSet::new();
        }
        self.due = None;
        self.begin_round();
        std::mem::take(&mut self.sessions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_fast_changes_follow_each_is_indexed_within_a_second() {
        let session = SessionId::parse("demo:one").unwrap();
        for gap in [Duration::from_micros(10), Duration::from_millis(5), PATIENCE] {
            let (mut gathered, begun) = (Gathered::default(), Instant::now());
            let (mut now, mut waiting_since) = (begun, None);
            while now < begun + Duration::from_secs(3) {
                gathered.add(session.clone(), now);
                let since = *waiting_since.get_or_insert(now);
                now += gap;
                // The indexer checks at each change, and at the deadline.
                let looks = gathered.due().map_or(now, |due| due.min(now));
                if !gathered.take(looks).is_empty() {
                    assert!(looks - since < Duration::from_secs(1), "{gap:?}");
                    waiting_since = None;
                }
                assert!(waiting_since.is_none_or(|since| now - since < Duration::from_secs(1)));
            }
        }
    }

    #[test]
    fn before_their_time_changes_are_gathered_and_then_taken_once() {
        let [one, two] = ["demo:one", "demo:two"].map(|id| SessionId::parse(id).unwrap());
        let (mut gathered, now) = (Gathered::default(), Instant::now());
        assert_eq!(gathered.due(), None);
        assert!(gathered.add(one.clone(), now));
        assert!(!gathered.add(two.clone(), now + PATIENCE / 2));
        assert!(!gathered.add(one.clone(), now + PATIENCE / 2));
        gathered.remove(&two);
        assert!(gathered.take(now + PATIENCE / 2).is_empty());
        assert_eq!(gathered.take(now + PATIENCE), HashSet::from([one.clone()]));
        assert_eq!((gathered.due(), gathered.take(now + PATIENCE).len()), (None, 0));
        assert!(gathered.add(one, now + PATIENCE));
    }

    #[test]
    fn what_is_told_belongs_to_the_round_that_is_taken_next() {
        let session = SessionId::parse("demo:one").unwrap();
        let (mut gathered, now) = (Gathered::default(), Instant::now());
        gathered.begin_round();
        assert_eq!((gathered.rounds(), gathered.rounds_needed()), (1, 1));
        gathered.add(session.clone(), now);
        gathered.add(session, now);
        assert_eq!((gathered.rounds(), gathered.rounds_needed()), (1, 2));
        gathered.take(now + PATIENCE);
        assert_eq!((gathered.rounds(), gathered.rounds_needed()), (2, 2));
    }
}
