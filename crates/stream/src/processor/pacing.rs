//! When a growing item is emitted again. Owns the two configurations and the arithmetic of waiting.
//!
//! One rule applies to both: a waiting item is due when it has grown past its threshold, or at its deadline. The
//! gradient has thresholds, and a deadline counted from the oldest waiting word; paced batching has no thresholds, and
//! a deadline counted from the last emission, so that the first word is emitted immediately. Its deadline can be
//! earlier for much text than for a few characters, which are hardly worth an emission of their own.

use std::time::Duration;

/// The thresholds of the specified default, in tokens.
const GRADIENT: [usize; 5] = [10, 20, 40, 80, 120];

/// The timeout of the specified default.
const TIMEOUT: Duration = Duration::from_millis(1000);

/// In characters. Paced batching may emit this much earlier than less.
const MUCH: usize = 32;

/// A token is this many characters, rounded up.
const CHARS_PER_TOKEN: usize = 4;

/// How often a growing item is emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pacing {
    thresholds: Vec<usize>,
    wait: Duration,
    wait_of_much: Duration,
    leading_edge: bool,
    tool_updates: bool,
}

impl Pacing {
    /// The specified default: `[10, 20, 40, 80, 120]` tokens, each of which must be exceeded, the last repeating, and
    /// 1000 ms. Tool calls are emitted on invocation and completion only.
    pub fn gradient() -> Self {
        Self::gradient_of(&GRADIENT, TIMEOUT)
    }

    /// As [`gradient`](Self::gradient), with other thresholds (in tokens) and another timeout.
    pub fn gradient_of(thresholds: &[usize], timeout: Duration) -> Self {
        Self {
            thresholds: thresholds.to_vec(),
            wait: timeout,
            wait_of_much: timeout,
            leading_edge: false,
            tool_updates: false,
        }
    }

    /// The first words immediately, then at most one emission per item and `interval`. Tool calls are also emitted when
    /// something about them changes or their output grows, at the same pace.
    pub fn paced(interval: Duration) -> Self {
        Self {
            thresholds: Vec::new(),
            wait: interval,
            wait_of_much: interval,
            leading_edge: true,
            tool_updates: true,
        }
    }

    /// In tokens; empty if only time counts.
    pub fn thresholds(&self) -> &[usize] {
        &self.thresholds
    }

    /// The longest time that words wait.
    pub fn wait(&self) -> Duration {
        self.wait
    }

    pub(super) fn set_wait(&mut self, wait: Duration, wait_of_much: Duration) {
        (self.wait, self.wait_of_much) = (wait, wait_of_much);
    }

    /// Whether a tool call is emitted between its invocation and its completion.
    pub(super) fn tool_updates(&self) -> bool {
        self.tool_updates
    }

    /// The threshold of a step; the last repeats.
    fn threshold(&self, step: usize) -> Option<usize> {
        self.thresholds.get(step).or(self.thresholds.last()).copied()
    }
}

impl Default for Pacing {
    fn default() -> Self {
        Self::gradient()
    }
}

/// How long one item has waited, and how much it has grown.
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    emitted_at: Option<Duration>,
    waiting_since: Option<Duration>,
    chars: usize,
    step: usize,
}

impl Pace {
    /// The item grew by this many characters (0 if something other than text changed).
    pub(super) fn grew(&mut self, chars: usize, now: Duration) {
        self.waiting_since.get_or_insert(now);
        self.chars = self.chars.saturating_add(chars);
    }

    /// When the item must be emitted, if it waits.
    pub(super) fn deadline(&self, pacing: &Pacing) -> Option<Duration> {
        let waiting_since = self.waiting_since?;
        match self.emitted_at {
            Some(emitted_at) if pacing.leading_edge => {
                let is_much = self.chars >= MUCH;
                let wait = if is_much { pacing.wait_of_much } else { pacing.wait };
                Some(emitted_at.saturating_add(wait))
            }
            None if pacing.leading_edge => Some(waiting_since),
            _ => Some(waiting_since.saturating_add(pacing.wait)),
        }
    }

    /// Whether the item waits and is due.
    pub(super) fn is_due(&self, pacing: &Pacing, now: Duration) -> bool {
        let Some(deadline) = self.deadline(pacing) else { return false };
        now >= deadline || pacing.threshold(self.step).is_some_and(|most| self.tokens() > most)
    }

    /// The item was emitted. One emission may cross several thresholds; the step moves past all of them.
    pub(super) fn emitted(&mut self, pacing: &Pacing, now: Duration) {
        let crossed = pacing.thresholds.iter().skip(self.step);
        self.step += crossed.take_while(|&&threshold| self.tokens() > threshold).count();
        self.emitted_at = Some(now);
        self.waiting_since = None;
        self.chars = 0;
    }

    fn tokens(&self) -> usize {
        self.chars.div_ceil(CHARS_PER_TOKEN)
    }
}
