//! A session's time: one monotonic scale, and when to check whether the session is still needed.

use std::time::{Duration, Instant, SystemTime};

use liminal_contract::Timestamp;
use liminal_stream::Now;

pub struct Clock {
    began: Instant,
    idle: Duration,
    next_check: Duration,
}

impl Clock {
    /// Checks after every `idle` without a step.
    pub fn new(idle: Duration) -> Self {
        Self { began: Instant::now(), idle, next_check: idle }
    }

    pub fn now(&self) -> Now {
        Now { mono: self.elapsed(), wall: Timestamp::from(SystemTime::now()) }
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// When it will be `at`, if nobody sets the clock until then.
    pub fn when(&self, at: Timestamp) -> Duration {
        let now = self.now();
        let wait = at.as_millis().saturating_sub(now.wall.as_millis());
        now.mono + Duration::from_millis(u64::try_from(wait).unwrap_or_default())
    }

    pub fn next_check(&self) -> Duration {
        self.next_check
    }

    pub fn is_time_to_check(&self) -> bool {
        self.elapsed() >= self.next_check
    }

    /// Something happened.
    pub fn step(&mut self) {
        self.next_check = self.elapsed() + self.idle;
    }

    pub async fn sleep_until(&self, deadline: Duration) {
        tokio::time::sleep_until((self.began + deadline).into()).await;
    }
}
