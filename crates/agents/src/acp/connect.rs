//! From nothing to an agent one can talk to: start it, shake hands, and read it until it is gone.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout;

use super::attach;
use super::link::{Link, NoAnswer, ReadEnd, write_to};
use super::shared::Shared;
use crate::ProviderError;
use crate::lifecycle::{Attempt, Connect};
use crate::process::{Budget, Lines, Process, Started, Stdout, Stop};

/// The handshake is limited by who keeps the process; this is only never in its way.
const HANDSHAKE: Duration = Duration::from_secs(600);

/// After a process ended, how long its last lines are waited for: something it left behind may hold the pipe.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Starts the real process.
#[derive(Debug)]
pub(crate) struct Starter {
    pub shared: Weak<Shared>,
}

#[async_trait]
impl Connect for Starter {
    type Link = Link;

    async fn connect(&self, attempt: &Attempt) -> Result<Arc<Link>, ProviderError> {
        let Some(shared) = self.shared.upgrade() else {
            return Err(ProviderError::NotConnected {
                name: String::new(),
                reason: "The server is stopping.".to_owned(),
                stderr_tail: String::new(),
            });
        };
        let Started { process, stdin, stdout } = shared.agent.launch.spawn(&shared.guard).await?;
        attempt.runs(&process);
        let (link, outgoing) = Link::new(Arc::clone(&shared), Budget::default());
        tokio::spawn(write_to(stdin, outgoing));
        tokio::spawn(read_until_gone(
            Arc::clone(&link),
            stdout.lines(link.budget.clone()),
            process,
        ));
        greet(&link).await?;
        tokio::spawn(attach::take_up_again(Arc::clone(&link)));
        Ok(link)
    }
}

/// Shakes hands over a link that is being read.
pub(crate) async fn greet(link: &Link) -> Result<(), ProviderError> {
    let agent = &link.shared.agent;
    let not_connected = |reason: String, stderr_tail| ProviderError::NotConnected {
        name: agent.name.clone(),
        reason,
        stderr_tail,
    };
    let answer = link.request("initialize", &agent.greeting(), HANDSHAKE).await;
    let answer = answer.map_err(|error| match error {
        NoAnswer::Refused(error) => {
            agent.refused(&error, &[], |words| not_connected(words, String::new()))
        }
        NoAnswer::Left { stderr_tail } => {
            not_connected("It ended before it was ready.".to_owned(), stderr_tail)
        }
        NoAnswer::Nonsense(_) | NoAnswer::TooLong(_) => {
            not_connected(error.to_string(), String::new())
        }
    })?;
    let offers = agent.greeted(answer)?;
    let _greeted_once = link.offers.set(offers);
    Ok(())
}

/// Reads a process until there is nothing more of it, and tells everyone.
async fn read_until_gone(link: Arc<Link>, mut lines: Lines<Stdout>, process: Process) {
    let read = {
        let reading = link.read(&mut lines);
        tokio::pin!(reading);
        tokio::select! {
            end = &mut reading => end,
            _exit = process.exited() => {
                // What it said before it ended is still in the pipe.
                timeout(LAST_LINES, &mut reading).await.unwrap_or(ReadEnd::Eof)
            }
        }
    };
    let name = link.shared.agent.name.clone();
    let error = match read {
        ReadEnd::Eof => {
            if timeout(LAST_LINES, process.exited()).await.is_err() {
                // It closed its output and lives on: there is nothing to be had from it.
                process.stop(Stop::Now).await;
            }
            ProviderError::ProcessEnded { name, stderr_tail: process.last_words().await }
        }
        ReadEnd::Broken(error) => {
            process.stop(Stop::Kill).await;
            ProviderError::Protocol { name, what: error.to_string() }
        }
    };
    link.close(&error, &process.stderr().text());
}
