//! Tickets: a browser gets one for a correct answer and sends it with requests. Both sides keep them only in memory.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::credential::{random_hex, same_secret};

/// How long a ticket is valid. A socket that was opened with it stays open.
pub const LIFETIME: Duration = Duration::from_secs(120);

struct Ticket {
    text: String,
    browser: String,
    origin: String,
    until: Instant,
}

#[derive(Default)]
pub struct Tickets(Mutex<Vec<Ticket>>);

impl Tickets {
    pub fn issue(&self, browser: &str, origin: &str, now: Instant) -> String {
        let text = random_hex();
        let mut tickets = self.lock();
        tickets.retain(|ticket| ticket.until > now);
        tickets.push(Ticket {
            text: text.clone(),
            browser: browser.to_owned(),
            origin: origin.to_owned(),
            until: now + LIFETIME,
        });
        text
    }

    /// The browser that this ticket was issued to, if it was for a page of this origin.
    pub fn holder(&self, text: &str, origin: &str, now: Instant) -> Option<String> {
        self.lock()
            .iter()
            .filter(|ticket| ticket.until > now && ticket.origin == origin)
            .find(|ticket| same_secret(&ticket.text, text))
            .map(|ticket| ticket.browser.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Ticket>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_good_for_two_minutes_at_the_address_it_was_given_for() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let at = "http://127.0.0.1:3000";
        let ticket = tickets.issue("b", at, now);
        let almost = now + LIFETIME - Duration::from_millis(1);
        assert_eq!(tickets.holder(&ticket, at, almost).as_deref(), Some("b"));
        assert_eq!(tickets.holder(&ticket, at, now + LIFETIME), None);
        assert_eq!(tickets.holder(&ticket, "http://localhost:3000", now), None);
        assert_eq!(tickets.holder("", at, now), None);
    }
}
