//! Markdown, code, diffs and terminal output to safe HTML. Pure: no I/O and no clock.
//!
//! The output is safe for any input: fixed elements, fixed classes, escaped text, no attribute that loads, styles,
//! submits or runs anything, and links only to `http`, `https` and `mailto`.
//!
//! | module | owns |
//! | --- | --- |
//! | [`Renderer`], [`Edit`] | a growing text, and what changes in its blocks |
//! | [`markdown`] | a whole text to top-level blocks |
//! | [`as_written`] | a user's text, with every line break and blank |
//! | [`code`] | highlighting with a dozen classes |
//! | [`diff`], [`edit`], [`hunks`] | two texts, or an agent's hunks, to rows with line numbers |
//! | [`Comparison`] | two versions of a file, part by part |
//! | [`fields`], [`folded`] | names and values to a table; content shown on demand |
//! | [`terminal`] | ANSI output to classes |
//! | [`text`], [`terminal_text`] | Markdown and terminal output as plain text |
//! | [`visible`] | text with invisible characters spelled out |
//! | [`units`] | how a browser counts text |

mod code;
mod diff;
mod escape;
mod fields;
mod live;
mod markdown;
mod plain;
mod terminal;
mod units;
mod wall;

pub use code::code;
pub use diff::{
    Block, Comparison, Diff, DiffView, Extent, HunkInput, Layout, PartStart, Whitespace, diff,
    edit, hunks, without_block,
};
pub use escape::visible;
pub use fields::{fields, folded};
pub use live::{Edit, Renderer};
pub use markdown::{as_written, markdown, markdown_into};
pub use plain::{last_paragraph, terminal_text, text};
pub use terminal::terminal;
pub(crate) use units::common_start;
pub use units::units;

/// Increase it whenever the HTML for the same input, or how it is stored, changes, so that it is rendered again.
pub const RENDER_VERSION: u32 = 9;

/// Highlighting more bytes than this may take a noticeable time: call [`markdown`] and [`code`] on a thread that
/// may block.
pub const HEAVY: usize = 16 * 1024;

/// Code of more bytes than this is shown without colours.
pub(crate) const PLAIN_ABOVE: usize = 256 * 1024;
