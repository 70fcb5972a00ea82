//! How often a growing item is sent: often on a quiet machine, less often as updates cost more or more agents work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// One frame of a screen: nobody sees more often.
pub const SHORTEST: Duration = Duration::from_millis(16);

/// Slower than this, a stream looks like it stalls.
const LONGEST: Duration = Duration::from_millis(100);

/// The time between two updates, in multiples of what one costs: a session keeps a core at most 5% busy.
const REST: u32 = 20;

/// How much longer each working session makes the interval of all.
const PER_SESSION: Duration = Duration::from_millis(1);

/// How many sessions have an agent at work.
#[derive(Clone, Default)]
pub struct AtWork(Arc<AtomicUsize>);

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

    /// The time to the next update of an item, after one that cost this much.
    pub fn interval(&self, cost: Duration) -> Duration {
        let sessions = u32::try_from(self.all.0.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let longer = (cost * REST).max(PER_SESSION.saturating_mul(sessions));
        longer.clamp(SHORTEST, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Duration = Duration::from_micros(50);

    #[test]
    fn updates_come_once_a_frame_while_little_goes_on() {
        assert_eq!(Pace::new(&AtWork::default()).interval(CHEAP), SHORTEST);
    }

    #[test]
    fn a_dear_update_is_followed_by_a_longer_rest() {
        let pace = Pace::new(&AtWork::default());
        assert_eq!(pace.interval(Duration::from_millis(2)), Duration::from_millis(40));
        assert_eq!(pace.interval(Duration::from_secs(1)), LONGEST);
    }

    #[test]
    fn many_sessions_at_work_slow_each_other_and_ended_ones_no_longer_count() {
        let all = AtWork::default();
        let mut sessions: Vec<Pace> = (0..50).map(|_| Pace::new(&all)).collect();
        sessions.iter_mut().for_each(Pace::begin_work);
        sessions.iter_mut().for_each(Pace::begin_work);
        assert_eq!(sessions[0].interval(CHEAP), Duration::from_millis(50));
        sessions[0].end_work();
        sessions.truncate(30);
        assert_eq!(sessions[1].interval(CHEAP), Duration::from_millis(29));
    }
}
