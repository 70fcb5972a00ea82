//! Running sessions: any number of browsers can follow, leave and come back, and every change is on disk before it is
//! shown.
//!
//! The socket and HTTP call `service`. `registry` keeps one handle per session in use. Each session is owned by one
//! `task`, which no lock of another can block. Five values make the task's decisions: `turn`, `queue`, `tie`,
//! `recorder` (with `transcript`) and `facts`. `view` turns items of the journal into the form browsers get. Nothing
//! here knows a socket or a wire format.

mod acting;
mod aside;
mod attaching;
mod clock;
mod comparing;
mod deleting;
mod discarding;
mod export;
mod facts;
mod failures;
mod news;
mod now;
mod offer;
mod open;
mod output;
mod pace;
mod queue;
mod recorder;
mod registry;
mod service;
mod session;
mod silence;
mod snippet;
mod task;
mod tie;
mod title;
mod transcript;
mod turn;
mod unread;
mod view;
mod workspace;

pub use comparing::{NewCompare, Others};
pub use export::Format;
pub use now::{NowRequest, NowRequests, start as start_now};
pub use output::Output;
pub use pace::AtWork;
pub use registry::Handed;
pub use service::{AgentsLeft, Branching, Restoring, Send, SessionService, Start, Surroundings};
pub use session::{Open, Reply as TaskReply, Sent};
pub use task::SessionRequest;
pub use unread::Unread;

pub use crate::workspaces::Wanted;

#[cfg(test)]
mod tests;
