//! Messages that were sent while a turn ran: queued, changed, and sent when their turn comes.

use liminal_contract::{Comment, ErrorCode, FactsChange, Prompt, QueueAct, QueuedMessage, TurnId};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::super::queue::Refusal;
use super::super::recorder::Step;
use super::super::session::{Reply, Sent};
use super::{Asker, SessionTask};
use crate::failure::Failure;

impl SessionTask {
    /// Starts the turn of the next message, if there is one and nothing else runs.
    pub(super) fn start_next(&mut self) {
        if self.queue.is_empty() || !self.turn.is_idle() || self.tie.has_history_under_way() {
            return;
        }
        if !self.has_project() || self.facts.shared.elsewhere {
            return;
        }
        if let Some((next, waiting)) = self.queue.next() {
            let QueuedMessage { message, content, attachments, request_id, .. } = next;
            let prompt = Prompt { content, attachments };
            let askers = waiting.into_iter().map(Asker::Waiter).collect();
            // In the commit that starts the turn, so that the message is in the queue or in the transcript.
            // Its turn has the message's id: if the agent was handed the message before, its history has it under that.
            let turn = TurnId::new(message);
            self.begin(turn, prompt, request_id, askers, Self::queue_step);
        }
    }

    /// Without its project nothing is sent to the agent; the messages are kept.
    pub(super) fn has_project(&self) -> bool {
        self.around.projects.get(&self.facts.record.project_id).is_ok()
    }

    pub(super) fn enqueue(
        &mut self,
        prompt: Prompt,
        comments: &[Comment],
        request_id: Option<String>,
        reply: Reply<Sent>,
    ) -> Option<String> {
        let message = Uuid::now_v7().to_string();
        let queued_at = self.clock.now().wall;
        let Prompt { content, attachments } = prompt;
        let queued = QueuedMessage {
            message: message.clone(),
            content,
            attachments,
            queued_at,
            request_id,
            handed: false,
            editing: false,
        };
        if let Err(refusal) = self.queue.push(queued) {
            let _asker_left = reply.send(Err(self.refused(refusal)));
            return None;
        }
        let sent = self.queued(message.clone());
        let mut step = self.queue_step();
        step.append(self.without_comments(comments));
        self.commit(step, None);
        self.reply_when_saved(reply, Ok(sent));
        Some(message)
    }

    /// The answer to a message that waits.
    pub(super) fn queued(&mut self, message: String) -> Sent {
        let (waiter, began) = oneshot::channel();
        self.queue.wait(&message, waiter);
        Sent::Queued { message, began }
    }

    pub(super) fn act_on_queue(&mut self, message: &str, act: QueueAct, reply: Reply<()>) {
        let is_urgent = matches!(act, QueueAct::Steer {});
        if is_urgent && self.facts.shared.elsewhere {
            let _asker_left = reply.send(Err(self.is_elsewhere()));
            return;
        }
        if is_urgent && self.can_steer(message) {
            return self.hand(message, reply);
        }
        if matches!(&act, QueueAct::Edit { content, .. } if content.trim().is_empty()) {
            let empty = Failure::invalid("`content` is empty; remove the message instead");
            let _asker_left = reply.send(Err(empty.about(self.facts.id().clone())));
        } else if let Err(refusal) = self.queue.act(message, act) {
            let _asker_left = reply.send(Err(self.refused(refusal)));
        } else if is_urgent {
            self.cancel(reply);
        } else {
            self.commit_queue();
            self.reply_when_saved(reply, Ok(()));
        }
    }

    pub(super) fn resume_queue(&mut self, reply: Reply<()>) {
        self.queue.resume();
        self.commit_queue();
        self.reply_when_saved(reply, Ok(()));
    }

    /// Commits the queue as it is now.
    pub(super) fn commit_queue(&mut self) {
        let step = self.queue_step();
        self.commit(step, None);
    }

    pub(super) fn queue_step(&mut self) -> Step {
        let queue = Some(self.queue.shown());
        self.facts_step(FactsChange { queue, ..FactsChange::default() })
    }

    pub(super) fn refused(&self, refusal: Refusal) -> Failure {
        let (code, words) = match refusal {
            Refusal::Gone => {
                (ErrorCode::QueueGone, "This message was sent, removed or changed in the meantime.")
            }
            Refusal::TooMany => (
                ErrorCode::SessionBusy,
                "100 messages are already waiting. Remove some or wait, then send again.",
            ),
            Refusal::TooLong => (
                ErrorCode::SessionBusy,
                "This message is too long to wait in the queue. Send it when the agent has finished.",
            ),
        };
        Failure::new(code, words).about(self.facts.id().clone())
    }
}
