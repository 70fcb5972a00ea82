//! Changes that wait to be indexed together.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use liminal_contract::SessionId;

/// How long the first of them may wait: well under the second that the index may be behind.
const PATIENCE: Duration = Duration::from_millis(300);

/// The sessions that changed, and when they are to be indexed.
#[derive(Debug, Default)]
pub struct Gathered {
    sessions: HashSet<SessionId>,
    due: Option<Instant>,
}

impl Gathered {
    /// A session changed. The first change decides when; however many follow, none puts it off. Returns whether it is
    /// the first, of which whoever indexes them must be told.
    pub fn add(&mut self, session: SessionId, now: Instant) -> bool {
        self.sessions.insert(session);
        let is_first = self.due.is_none();
        self.due.get_or_insert(now + PATIENCE);
        is_first
    }

    /// A session is gone.
    pub fn remove(&mut self, session: &SessionId) {
        self.sessions.remove(session);
    }

    /// When they are to be indexed; `None` while there are none.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// All of them, when it is time.
    pub fn take(&mut self, now: Instant) -> HashSet<SessionId> {
        if self.due.is_none_or(|due| now < due) {
            return HashSet::new();
        }
        self.due = None;
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
                // The indexer looks again at each change, and when they are due.
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
}
