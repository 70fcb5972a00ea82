//! Slow work, such as highlighting a lot of code, in the middle of a session's step.
//!
//! The session itself has to wait for it, so that its output stays in order; no other task does.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does the work. If it `is_heavy`, the other tasks of this thread move to another one in the meantime.
pub fn aside<T>(is_heavy: bool, work: impl FnOnce() -> T) -> T {
    // A single-threaded runtime has no other thread.
    let can_move = || {
        Handle::try_current().is_ok_and(|now| now.runtime_flavor() == RuntimeFlavor::MultiThread)
    };
    if is_heavy && can_move() { tokio::task::block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn others_go_on_while_heavy_work_is_done() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let seen = runtime.block_on(runtime.spawn(async {
            let (go, gone) = sync_channel(1);
            // It waits for us on the only thread.
            tokio::spawn(async move { go.send(()) });
            aside(true, || gone.recv_timeout(Duration::from_secs(60)).is_ok())
        }));
        assert!(seen.unwrap());
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_does_it_itself() {
        assert_eq!(aside(true, || 7), 7);
    }
}
