//! When each directory may be surveyed again.
//!
//! In each directory one survey runs at a time, and at most one a second; one that takes long is followed by a longer
//! rest, so that a directory seldom takes more than a twentieth of a processor, and all of them together seldom more
//! than a third. The survey after a turn waits only for the second.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::one_at_a_time::OneAtATime;

const SHORTEST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(5);
/// How much longer than the time of a survey its rest is.
const REST: u32 = 20;
/// The same for each directory that is surveyed.
const REST_OF_EACH: u32 = 3;
/// Of many directories, each may rest longer.
const LONGEST_OF_EACH: Duration = Duration::from_millis(500);

/// What to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// Only where the session works.
    Place,
    /// How much it changed, too.
    Counts,
    /// The same, and soon, because the turn has ended or the user acted.
    LastCounts,
}

/// What a survey will read. It can be raised until the survey begins.
#[derive(Debug, Clone)]
pub struct Wish(Arc<(Mutex<Option<Look>>, Notify)>);

impl Wish {
    pub fn new(look: Look) -> Self {
        Self(Arc::new((Mutex::new(Some(look)), Notify::new())))
    }

    /// Whether the survey will read this much: not if it has begun.
    pub fn raise(&self, look: Look) -> bool {
        let mut wanted = self.lock();
        *wanted = wanted.map(|before| before.max(look));
        self.0.1.notify_one();
        wanted.is_some()
    }

    /// The survey begins.
    pub(super) fn take(&self) -> Look {
        self.lock().take().unwrap_or(Look::Place)
    }

    pub(super) fn is_for_place(&self) -> bool {
        *self.lock() == Some(Look::Place)
    }

    fn is_hasty(&self) -> bool {
        *self.lock() == Some(Look::LastCounts)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Look>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
pub(super) struct Pace {
    turns: OneAtATime,
    rests: Mutex<HashMap<PathBuf, Rest>>,
}

#[derive(Clone, Copy)]
struct Rest {
    /// For the last survey of a turn.
    least: Instant,
    end: Instant,
}

impl Pace {
    /// Does the work when the directory has rested.
    pub async fn paced<T>(
        &self,
        directory: &Path,
        wish: &Wish,
        work: impl Future<Output = T>,
    ) -> T {
        let _one_at_a_time = loop {
            while let Some(until) = self.must_rest(directory, wish) {
                tokio::select! {
                    () = tokio::time::sleep_until(until) => {}
                    () = wish.0.1.notified() => {}
                }
            }
            let turn = self.turns.turn(directory).await;
            if self.must_rest(directory, wish).is_none() {
                break turn;
            }
        };
        let began = Instant::now();
        let done = work.await;
        let now = Instant::now();
        let mut rests = self.lock();
        rests.retain(|_, rest| rest.end > now);
        let others = rests.keys().filter(|other| *other != directory).count();
        let rest = now + rest_after(now - began, others + 1);
        rests.insert(directory.to_owned(), Rest { least: now + SHORTEST_REST, end: rest });
        done
    }

    /// Until when, if not free now.
    fn must_rest(&self, directory: &Path, wish: &Wish) -> Option<Instant> {
        let rest = self.lock().get(directory).copied()?;
        let until = if wish.is_hasty() { rest.least } else { rest.end };
        (until > Instant::now()).then_some(until)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Rest>> {
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a directory rests after a survey that took this long, if so many are surveyed.
fn rest_after(took: Duration, directories: usize) -> Duration {
    let directories = u32::try_from(directories).unwrap_or(u32::MAX);
    let longest = LONGEST_REST.max(LONGEST_OF_EACH.saturating_mul(directories));
    let times = REST.max(REST_OF_EACH.saturating_mul(directories));
    took.saturating_mul(times).clamp(SHORTEST_REST, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn work(milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_directory_rests_between_surveys_and_another_does_not_wait() {
        let (pace, wish) = (Pace::default(), Wish::new(Look::Counts));
        let began = Instant::now();
        pace.paced(Path::new("/a"), &wish, work(10)).await;
        pace.paced(Path::new("/b"), &wish, work(0)).await;
        assert_eq!(began.elapsed().as_millis(), 10, "another directory is free");
        pace.paced(Path::new("/a"), &wish, work(200)).await;
        assert_eq!(began.elapsed().as_millis(), 1210, "a second after the first ended");
        pace.paced(Path::new("/a"), &wish, work(0)).await;
        assert_eq!(began.elapsed().as_millis(), 5210, "twenty times as long as the second took");
        assert_eq!(pace.lock().len(), 1, "a directory that is free takes no memory");
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_survey_of_a_turn_waits_only_a_second_even_if_another_waits_already() {
        let pace = Pace::default();
        let a = Path::new("/a");
        pace.paced(a, &Wish::new(Look::Counts), work(200)).await;
        let began = Instant::now();
        let (early, late) = (Wish::new(Look::Counts), Wish::new(Look::Counts));
        let last = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert!(late.raise(Look::LastCounts));
        };
        let one = async {
            pace.paced(a, &early, async {}).await;
            began.elapsed().as_millis()
        };
        let other = async {
            pace.paced(a, &late, async { late.take() }).await;
            began.elapsed().as_millis()
        };
        assert_eq!(tokio::join!(one, other, last), (4000, 1000, ()));
        assert!(!late.raise(Look::Place), "it has begun");
    }

    #[test]
    fn each_of_many_directories_rests_longer() {
        let ms = Duration::from_millis;
        for (took, directories, rest) in [
            (10, 1, 1000),
            (100, 1, 2000),
            (1000, 1, 5000),
            (100, 6, 2000),
            (100, 20, 6000),
            (1000, 20, 10_000),
        ] {
            assert_eq!(rest_after(ms(took), directories), ms(rest), "{took} {directories}");
        }
    }
}
