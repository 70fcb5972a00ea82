//! How a process ended, in words.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// On its own, with this code.
    Code(i32),
    Signal(i32),
    /// Unknown, because its guard was killed.
    Unseen,
}

/// Completes "The process …".
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with exit code {code}"),
            Self::Signal(signal) => write!(f, "was killed by signal {signal}"),
            Self::Unseen => f.write_str("was killed together with its guard"),
        }
    }
}
