//! Markdown, code, diffs and terminal output to safe HTML. Pure: no I/O and no clock.
//!
//! What comes out is safe for any input: fixed elements, fixed classes, escaped text, no attribute that loads, styles,
//! submits or runs anything, and links only to `http`, `https` and `mailto`.
//!
//! | module | owns |
//! | --- | --- |
//! | [`Renderer`] | a text that grows |
//! | [`markdown`] | a whole text to top-level blocks |
//! | [`code`] | highlighting by a dozen classes of ours |
//! | [`diff`], [`hunks`] | two texts, or an agent's hunks, to rows with line numbers |
//! | [`terminal`] | ANSI output to classes |
//! | [`text`], [`terminal_text`] | Markdown and terminal output as plain text |
//! | [`visible`] | text without deception |
//! | [`units`], [`common_start`] | how a browser counts text |

mod code;
mod diff;
mod escape;
mod live;
mod markdown;
mod plain;
mod terminal;
mod units;
mod wall;

pub use code::code;
pub use diff::{Diff, HunkInput, diff, hunks};
pub use escape::visible;
pub use live::Renderer;
pub use markdown::markdown;
pub use plain::{terminal_text, text};
pub use terminal::terminal;
pub use units::{common_start, units};

/// Raised whenever the HTML for the same input changes, so that what was rendered and kept is rendered again.
pub const RENDER_VERSION: u32 = 4;

/// A text of more bytes than this may take a noticeable time to highlight: call [`Renderer::finish`], [`markdown`] and
/// [`code`] on a thread that may block.
pub const HEAVY: usize = 16 * 1024;

/// Code of more bytes than this is shown without colours.
pub(crate) const PLAIN_ABOVE: usize = 256 * 1024;
