//! How often a growing item is sent: often on a quiet machine, less often as updates cost more or more agents work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// One frame of a screen: nobody sees more often.
pub const SHORTEST: Duration = Duration::from_millis(16);

/// For a stream so fast that its updates carry more text than overhead: half of its words then wait under 8 ms.
const QUICKEST: Duration = Duration::from_millis(10);

/// Slower than this, a stream looks like it stalls.
const LONGEST: Duration = Duration::from_millis(100);

/// The time between two updates, in multiples of what one costs: a session keeps a core at most 5% busy.
const REST: u32 = 20;

/// How much longer each working session makes the interval of all.
const PER_SESSION: Duration = Duration::from_millis(1);

/// How many sessions have an agent at work.
#[derive(Clone, Default)]
pub struct AtWork(Arc<AtomicUsize>);

/// The time to the next update of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// If only a few characters wait.
    pub few: Duration,
    /// If many do.
    pub many: Duration,
}

/// One session's pace.
pub struct Pace {
    all: AtWork,
    own: Option<Working>,
}

/// Counts as one session at work until it is dropped.
struct Working(AtWork);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pace {
    pub fn new(all: &AtWork) -> Self {
        Self { all: all.clone(), own: None }
    }

    pub fn begin_work(&mut self) {
        self.own.get_or_insert_with(|| {
            self.all.0.fetch_add(1, Ordering::Relaxed);
            Working(self.all.clone())
        });
    }

    pub fn end_work(&mut self) {
        self.own = None;
    }

    /// After an update that cost this much.
    pub fn interval(&self, cost: Duration) -> Interval {
        let sessions = u32::try_from(self.all.0.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let longer = (cost * REST).max(PER_SESSION.saturating_mul(sessions));
        let [few, many] = [SHORTEST, QUICKEST].map(|shortest| longer.clamp(shortest, LONGEST));
        Interval { few, many }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Duration = Duration::from_micros(50);

    fn both(milliseconds: u64) -> Interval {
        let both = Duration::from_millis(milliseconds);
        Interval { few: both, many: both }
    }

    #[test]
    fn updates_come_once_a_frame_while_little_goes_on_and_of_fast_streams_more_often() {
        let interval = Pace::new(&AtWork::default()).interval(CHEAP);
        assert_eq!(interval, Interval { few: SHORTEST, many: QUICKEST });
    }

    #[test]
    fn a_dear_update_is_followed_by_a_longer_rest() {
        let pace = Pace::new(&AtWork::default());
        assert_eq!(pace.interval(Duration::from_millis(2)), both(40));
        assert_eq!(pace.interval(Duration::from_secs(1)), both(100));
    }

    #[test]
    fn many_sessions_at_work_slow_each_other_and_ended_ones_no_longer_count() {
        let all = AtWork::default();
        let mut sessions: Vec<Pace> = (0..50).map(|_| Pace::new(&all)).collect();
        sessions.iter_mut().for_each(Pace::begin_work);
        sessions.iter_mut().for_each(Pace::begin_work);
        assert_eq!(sessions[0].interval(CHEAP), both(50));
        sessions[0].end_work();
        sessions.truncate(30);
        assert_eq!(sessions[1].interval(CHEAP), both(29));
    }
}
