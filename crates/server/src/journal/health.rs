//! Whether the journal can write, and what to tell the user when it cannot.

/// The state of the disk under the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// Commits succeed.
    Good,
    /// The last commit failed and is retried each second. Nothing is published until it succeeds.
    Full {
        /// What the disk said.
        reason: String,
    },
}
