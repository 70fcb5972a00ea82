//! The part of a session that each wire protocol implements.

use liminal_contract::{Answer, ItemId, OutcomeBy, Timestamp, TurnId};
use liminal_stream::AgentError;

use super::NotTaken;
use crate::{AgentPrompt, Output};

/// The connection to one start of an agent's process.
pub(crate) trait Link: Send + Sync + 'static {
    /// Which start this is; unique among the links of a session.
    fn generation(&self) -> u64;

    /// Whether the connection has ended.
    fn is_over(&self) -> bool;
}

/// One session's side of a wire: translates the agent's lines to events and our requests to lines. Never starts a
/// process, never waits.
pub(crate) trait Voice: Send + 'static {
    type Link: Link;

    const UNANSWERED: Unanswered;

    /// Writes the user's message. Every event of its turn carries `turn`, and one of them ends it.
    fn prompt(
        &mut self,
        turn: &TurnId,
        prompt: &AgentPrompt,
        at: Timestamp,
    ) -> Result<Vec<Output>, Closed>;

    /// The message was stopped before it was written: starts and ends its turn.
    fn unsent(&mut self, turn: &TurnId, at: Timestamp) -> Vec<Output>;

    /// Hands the agent a message while a turn runs. One that it won't take up comes back as [`Output::Returned`].
    fn steer(
        &mut self,
        message: &str,
        prompt: &AgentPrompt,
        at: Timestamp,
    ) -> Result<Vec<Output>, Closed>;

    /// Tells the agent to stop, and closes its open permissions. If the wire will not report the end of the turn, it
    /// ends here.
    fn stop(&mut self, at: Timestamp) -> Vec<Output>;

    /// Ends the running turn without the agent, and closes its open permissions.
    fn end(&mut self, why: Ended, at: Timestamp) -> Vec<Output>;

    fn answer(
        &mut self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
        at: Timestamp,
    ) -> Result<Vec<Output>, NotTaken>;

    /// Whether ending the process now would lose anything other than a running turn.
    fn is_busy(&self) -> bool;

    /// The process is detached: nothing can be written to it.
    fn detached(&mut self);
}

/// Why a turn ends without the agent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    /// It did not stop in time.
    Unanswered,
    /// We released the session.
    Released,
    /// The process is gone.
    Left(Box<AgentError>),
}

/// What to do about an agent that does not stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// Ignore the rest of the turn until its answer: other sessions may use the process.
    Deafen,
    /// Restart the process: no other session uses it.
    Restart,
}

/// Nothing can be written any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub(crate) struct Closed;
