//! Codes that log in once, for the link we pass on the browser's command line.
//!
//! Other users of the machine can read command lines. A code they find there is used up, or expires within thirty
//! seconds.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::credential::{random_hex, same_secret};

const LIFETIME: Duration = Duration::from_secs(30);

/// The codes that still work.
#[derive(Debug, Default)]
pub struct OneTimeCodes(Mutex<Vec<(String, Instant)>>);

impl OneTimeCodes {
    /// A new code, valid for thirty seconds.
    pub fn issue(&self, now: Instant) -> String {
        let code = random_hex();
        let mut codes = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        codes.retain(|(_, until)| *until > now);
        codes.push((code.clone(), now + LIFETIME));
        code
    }

    /// Whether the code was valid. It no longer is.
    pub fn redeem(&self, code: &str, now: Instant) -> bool {
        let mut codes = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        codes.retain(|(_, until)| *until > now);
        let before = codes.len();
        codes.retain(|(valid, _)| !same_secret(valid, code));
        codes.len() < before
    }

    pub fn void(&self) {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once() {
        let (codes, now) = (OneTimeCodes::default(), Instant::now());
        let (first, second) = (codes.issue(now), codes.issue(now));
        assert!(!codes.redeem("", now));
        assert!(codes.redeem(&first, now));
        assert!(!codes.redeem(&first, now));
        assert!(codes.redeem(&second, now));
    }

    #[test]
    fn a_code_works_for_thirty_seconds() {
        let (codes, now) = (OneTimeCodes::default(), Instant::now());
        let (early, late) = (codes.issue(now), codes.issue(now));
        assert!(codes.redeem(&early, now + Duration::from_millis(29_999)));
        assert!(!codes.redeem(&late, now + Duration::from_secs(30)));
    }

    #[test]
    fn a_voided_code_no_longer_works() {
        let (codes, now) = (OneTimeCodes::default(), Instant::now());
        let code = codes.issue(now);
        codes.void();
        assert!(!codes.redeem(&code, now));
    }
}
