//! Whether the journal can write, and if not, why.

use std::path::PathBuf;

/// The state of the disk under the journal. While it is not good, nothing is published, and the commit is tried again
/// each second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    Good,
    /// The last commit failed.
    Full {
        reason: String,
    },
    /// A file of the journal was removed or replaced.
    Gone {
        file: PathBuf,
        /// The file that everything committed so far was saved to, or why that failed.
        rescued: Result<PathBuf, String>,
    },
}
