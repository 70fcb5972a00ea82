//! Lines on an agent's stdout that are not messages: banners, log lines, broken bytes. Skipped, and a few are logged.

use std::time::{Duration, Instant};

use super::{Process, StderrTail};

/// At most this many warnings per window.
const WARNINGS: u32 = 5;
const WINDOW: Duration = Duration::from_secs(10);

/// How much of a skipped line is logged.
const SHOWN: usize = 200;

/// Counts the skipped lines of one agent, and logs the first few in each ten seconds.
#[derive(Debug)]
pub struct Noise {
    agent: String,
    since: Option<Instant>,
    logged: u32,
    silent: u64,
    /// Where they are kept for the user, who sees them if the process ends.
    tail: Option<StderrTail>,
}

impl Noise {
    pub fn new(agent: impl Into<String>) -> Self {
        Self { agent: agent.into(), since: None, logged: 0, silent: 0, tail: None }
    }

    /// Keeps the skipped lines with the end of the process's stderr.
    pub fn of(agent: &str, process: &Process) -> Self {
        Self { tail: Some(process.stderr().clone()), ..Self::new(agent) }
    }

    pub fn skipped(&mut self, line: &[u8], why: &str) {
        if let Some(tail) = &self.tail {
            tail.keep(line);
            tail.keep(b"\n");
        }
        if self.speaks(Instant::now()) {
            let shown = line.get(..SHOWN).unwrap_or(line);
            tracing::warn!(
                agent = %self.agent,
                unsaid = std::mem::take(&mut self.silent),
                why,
                line = %shown.escape_ascii(),
                "skipped a line of the agent's output"
            );
        } else {
            self.silent += 1;
        }
    }

    fn speaks(&mut self, now: Instant) -> bool {
        if self.since.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            self.since = Some(now);
            self.logged = 0;
        }
        self.logged += 1;
        self.logged <= WARNINGS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chatty_agent_gets_five_warnings_in_ten_seconds() {
        let mut noise = Noise::new("Chatty");
        let start = Instant::now();
        let said =
            |noise: &mut Noise, at: Duration| (0..100).filter(|_| noise.speaks(start + at)).count();
        assert_eq!(said(&mut noise, Duration::ZERO), 5);
        assert_eq!(said(&mut noise, Duration::from_secs(9)), 0);
        assert_eq!(said(&mut noise, Duration::from_secs(10)), 5);
    }
}
