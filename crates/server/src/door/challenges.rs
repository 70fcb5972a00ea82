//! Challenges that a browser must answer to get a ticket.
//!
//! A challenge itself contains the browser, the origin and the expiry it was made for, sealed with a secret of this
//! process, so asking for many takes no memory. An answered one is remembered until it would have expired.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::credential::{mac, random_hex, same_secret};

const LIFETIME: Duration = Duration::from_secs(30);

pub struct Challenges {
    /// Known only to this process: challenges of another process, or of an earlier run, are not accepted.
    secret: String,
    start: Instant,
    answered: Mutex<HashMap<String, Instant>>,
}

impl Challenges {
    pub fn new(start: Instant) -> Self {
        Self { secret: random_hex(), start, answered: Mutex::default() }
    }

    pub fn make(&self, browser: &str, origin: &str, now: Instant) -> String {
        let until = (now + LIFETIME).duration_since(self.start).as_millis();
        let head = format!("{until}.{}", random_hex());
        let seal = self.seal(&head, browser, origin);
        format!("{head}.{seal}")
    }

    /// Whether it is one of ours, for this browser and origin, in time and never answered before.
    /// `answer_is_good` is asked last; only a good answer uses the challenge up.
    pub fn settle(
        &self,
        challenge: &str,
        browser: &str,
        origin: &str,
        now: Instant,
        answer_is_good: impl FnOnce() -> bool,
    ) -> bool {
        let Some((head, seal)) = challenge.rsplit_once('.') else { return false };
        if !same_secret(seal, &self.seal(head, browser, origin)) {
            return false;
        }
        let until = head.split_once('.').and_then(|(until, _)| until.parse().ok());
        let Some(until) = until.map(|millis| self.start + Duration::from_millis(millis)) else {
            return false;
        };
        if until <= now || !answer_is_good() {
            return false;
        }
        let mut answered = self.answered.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        answered.retain(|_, until| *until > now);
        answered.insert(head.to_owned(), until).is_none()
    }

    fn seal(&self, head: &str, browser: &str, origin: &str) -> String {
        mac(&self.secret, &format!("{head}\n{browser}\n{origin}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "http://127.0.0.1:3000";

    #[test]
    fn a_challenge_is_answered_once() {
        let now = Instant::now();
        let challenges = Challenges::new(now);
        let challenge = challenges.make("b", AT, now);
        assert!(!challenges.settle(&challenge, "b", AT, now, || false));
        assert!(challenges.settle(&challenge, "b", AT, now, || true));
        assert!(!challenges.settle(&challenge, "b", AT, now, || true));
    }

    #[test]
    fn a_challenge_is_for_one_browser_at_one_address_of_one_process() {
        let now = Instant::now();
        let challenges = Challenges::new(now);
        let challenge = challenges.make("b", AT, now);
        assert!(!challenges.settle(&challenge, "c", AT, now, || true));
        assert!(!challenges.settle(&challenge, "b", "http://localhost:3000", now, || true));
        assert!(!Challenges::new(now).settle(&challenge, "b", AT, now, || true));
        let (head, seal) = challenge.rsplit_once('.').unwrap();
        let later = format!("9{head}.{seal}");
        for forged in ["", ".", "..", &later, head, seal] {
            assert!(!challenges.settle(forged, "b", AT, now, || true), "{forged:?}");
        }
    }

    #[test]
    fn a_challenge_waits_thirty_seconds() {
        let now = Instant::now();
        let challenges = Challenges::new(now);
        let (early, late) = (challenges.make("b", AT, now), challenges.make("b", AT, now));
        assert!(challenges.settle(&early, "b", AT, now + Duration::from_secs(29), || true));
        assert!(!challenges.settle(&late, "b", AT, now + LIFETIME, || true));
    }
}
