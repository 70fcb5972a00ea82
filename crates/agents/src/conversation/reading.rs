//! Reads a process to its end, whether its exit or the end of its output comes first.

use std::time::Duration;

use tokio::time::timeout;

use crate::ProviderError;
use crate::process::{Process, ReadError, Stop};

/// How long to wait for the last lines after the exit: a leftover child may hold the pipe open.
const LAST_LINES: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) enum ReadEnd {
    Eof,
    Broken(ReadError),
}

/// Waits until the process is gone and read to its end. Returns why it ended, with the end of its stderr.
pub(crate) async fn read_until_gone(
    reading: impl Future<Output = ReadEnd>,
    process: &Process,
    name: &str,
) -> ProviderError {
    tokio::pin!(reading);
    let end = tokio::select! {
        end = &mut reading => end,
        // Its last lines are still in the pipe.
        _exit = process.exited() => timeout(LAST_LINES, &mut reading).await.unwrap_or(ReadEnd::Eof),
    };
    let name = name.to_owned();
    match end {
        ReadEnd::Eof => {
            if timeout(LAST_LINES, process.exited()).await.is_err() {
                // It closed its output but still runs: it is of no more use.
                process.stop(Stop::Now).await;
            }
            ProviderError::ProcessEnded { name, stderr_tail: process.last_words().await }
        }
        ReadEnd::Broken(error) => {
            process.stop(Stop::Kill).await;
            ProviderError::Protocol { name, what: error.to_string() }
        }
    }
}
