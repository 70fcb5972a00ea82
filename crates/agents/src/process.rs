//! The only place that starts programs. Each runs under a guard ([`guard_main`]), so no process outlives us.
//!
//! Handles bytes, lines, signals and exits, and knows nothing about their meaning.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use liminal_agents::process::{Budget, GuardCommand, Launch, Stop};
//!
//! let guard = GuardCommand::own_executable();
//! let started = Launch::new("Codex", "codex-acp", "/some/project").spawn(&guard).await?;
//! let mut lines = started.stdout.lines(Budget::default());
//! started.stdin.write(b"{}\n".to_vec()).await?;
//! while let Some(line) = lines.next().await? {
//!     println!("{}", String::from_utf8_lossy(&line.bytes));
//! }
//! started.process.stop(Stop::Gently).await;
//! # Ok(())
//! # }
//! ```

mod budget;
pub mod descriptors;
mod exit;
mod guard;
mod launch;
mod leftovers;
mod lines;
mod mark;
mod noise;
mod orders;
mod others;
mod stderr_tail;
mod stdin;
mod supervise;
mod tree;

pub use budget::Budget;
pub use exit::Exit;
pub use guard::guard_main;
pub use launch::{GuardCommand, Launch, Started, StderrTo, StdinFrom};
pub use leftovers::end_leftovers;
pub use lines::{LONGEST_LINE, Line, Lines, ReadError, Stdout};
pub use mark::{NAME as MARK, ServerMark};
pub(crate) use noise::Noise;
pub(crate) use others::{Other, others_in};
pub use stderr_tail::StderrTail;
pub use stdin::{Stdin, StdinClosed};
pub use supervise::{Process, Stop};
