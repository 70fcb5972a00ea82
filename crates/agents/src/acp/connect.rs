//! Starts an agent, performs the handshake, and reads its output until it is gone.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;

use super::attach;
use super::link::{Link, NoAnswer, write_to};
use super::shared::Shared;
use crate::ProviderError;
use crate::conversation;
use crate::lifecycle::{Attempt, Connect};
use crate::process::{Lines, Noise, Process, Started, Stdout};

/// The keeper enforces the real timeout; this one must be longer.
const HANDSHAKE: Duration = Duration::from_secs(600);

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
        let Started { process, stdin, stdout } = shared.launch().spawn(&shared.guard).await?;
        process.stderr().conceal(shared.agent.mcp.secrets().clone());
        attempt.runs(&process);
        let (link, outgoing) = Link::new(Arc::clone(&shared), attempt.generation());
        tokio::spawn(write_to(stdin, outgoing));
        tokio::spawn(read_until_gone(
            Arc::clone(&link),
            stdout.lines(link.budget.clone()),
            process,
        ));
        greet(&link).await?;
        tokio::spawn(attach::attach_lost_sessions(Arc::clone(&link)));
        Ok(link)
    }
}

/// Performs the handshake over a link that is already being read.
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

/// Reads a process to its end, then closes the link.
async fn read_until_gone(link: Arc<Link>, mut lines: Lines<Stdout>, process: Process) {
    let name = &link.shared.agent.name;
    let noise = Noise::of(name, &process);
    let reading = link.read(&mut lines, noise);
    let error = conversation::read_until_gone(reading, &process, name).await;
    link.close(&error);
}
