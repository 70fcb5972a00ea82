//! The harness of the stories. `App` is a running `liminal`, `Browser` one socket to it, `Call` one HTTP request.
//!
//! Nothing here sleeps or guesses: every wait is for a fact, and a wait that fails prints everything received
//! so far.

pub mod acts;
mod agents;
mod app;
mod browser;
mod call;
mod clock;
mod conversation;
mod ended;
mod keyed;
mod processes;
mod sources;
mod transcripts;

use std::future::Future;
use std::time::Duration;

pub use app::{App, Launch};
pub use browser::Browser;
pub use call::{Answer, Call};
pub use clock::Clock;
pub use conversation::{History, items, text_of};
pub use ended::{Ended, run};
pub use keyed::Keyed;
pub use processes::{are_gone, descendants, executable};
pub use sources::{checkout, files};
pub use transcripts::numbered;

/// Far more than anything takes, also on a machine that is busy with other work; only a failing story waits this long.
const PATIENCE: Duration = Duration::from_secs(120);

/// The result of `wait`, or `None` after the timeout.
pub async fn in_time<T>(wait: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(PATIENCE, wait).await.ok()
}
