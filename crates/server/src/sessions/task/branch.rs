//! A session that was made from another one, or was replaced by one.

use liminal_contract::{ErrorCode, Prompt, SessionId, Severity, TurnId};

use super::super::failures::read_only;
use super::super::session::Reply;
use super::SessionTask;
use crate::failure::Failure;
use crate::store::SessionRecord;

impl SessionTask {
    /// Accepts no more messages, and ends what runs. Messages that wait would never be sent, so there must be none. Of
    /// two edits at once, the second is refused.
    pub(super) fn replace(
        &mut self,
        was: &Option<SessionId>,
        newer: Option<SessionId>,
        reply: Reply<()>,
    ) {
        let is_ending = was.is_none() && newer.is_some();
        if self.facts.record.newer != *was {
            let refused = if is_ending { Err(read_only(self.facts.id())) } else { Ok(()) };
            let _asker_left = reply.send(refused);
            return;
        }
        if is_ending && !self.queue.is_empty() {
            let words = "Messages are waiting in the queue. Send or remove them first, then edit.";
            let failure = Failure::new(ErrorCode::SessionBusy, words);
            let _asker_left = reply.send(Err(failure.about(self.facts.id().clone())));
            return;
        }
        if is_ending && self.facts.shared.elsewhere {
            let _asker_left = reply.send(Err(self.is_elsewhere()));
            return;
        }
        self.facts.record.newer = newer;
        if is_ending {
            self.kill(reply);
        } else {
            let _asker_left = reply.send(Ok(()));
        }
    }

    /// Whether the agent gets the transcript with this message. A command can't carry it: the next message does.
    pub(super) fn owes_transcript(&self, prompt: &Prompt) -> bool {
        let branch = self.facts.record.branch.as_ref();
        branch.is_some_and(|branch| branch.owes_transcript)
            && !prompt.content.trim_start().starts_with('/')
    }

    /// The agent has the message of this turn, and with it what it was owed.
    pub(super) fn transcript_given(&mut self, turn: &TurnId) {
        let is_given = std::mem::take(&mut self.under_way.transcript);
        let Some(branch) = self.facts.record.branch.as_mut().filter(|_| is_given) else { return };
        branch.owes_transcript = false;
        let given = |record: &mut SessionRecord| {
            if let Some(branch) = &mut record.branch {
                branch.owes_transcript = false;
            }
        };
        self.around.sessions.update_later(self.facts.id().clone(), given, |_record| {});
        let text = "The agent can't go back to this point by itself. It began a new conversation and got the \
                    transcript above as text.";
        self.note(turn, Severity::Info, text.to_owned(), Vec::new());
    }
}
