//! What the stories stand on. `App` is a running `liminal`, `Browser` one socket to it, `Call` one HTTP request.
//!
//! Nothing here sleeps or guesses: every wait is for a fact, and one that does not come fails with everything that
//! was seen instead.

mod app;
mod browser;
mod call;
mod conversation;
mod ended;
mod processes;
mod sources;

use std::future::Future;
use std::time::Duration;

pub use app::{App, Launch};
pub use browser::Browser;
pub use call::{Answer, Call};
pub use conversation::History;
pub use ended::{Ended, run};
pub use processes::{are_gone, descendants};
pub use sources::{checkout, files};

/// Far more than anything takes; only a story that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// What `wait` brings, or `None` when it does not come.
pub async fn in_time<T>(wait: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(PATIENCE, wait).await.ok()
}
