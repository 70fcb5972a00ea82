//! The message that the session sends by itself, once a limit of the agent's account is lifted.

use std::time::Duration;

use liminal_contract::{Continuation, Prompt, Timestamp, WhenBusy};
use tokio::sync::oneshot;

use super::super::facts::Learnt;
use super::super::session::Reply;
use super::{SessionRequest, SessionTask};

const CONTENT: &str = "Continue.";

/// The server may have been off at the time. After this the user decides.
const TOO_LATE: Duration = Duration::from_secs(60 * 60);

impl SessionTask {
    pub(super) fn continue_at(&mut self, at: Option<Timestamp>, reply: Reply<()>) {
        let planned = at.map(|at| Continuation { at, content: CONTENT.to_owned() });
        if let Learnt::Changed(change) = self.facts.plan(planned) {
            let step = self.recorder.facts(change);
            self.commit(step, None);
        }
        self.reply_when_saved(reply, Ok(()));
    }

    /// When the planned message can be sent; `None` while it can't, or if the user must decide.
    pub(super) fn continues_at(&self) -> Option<Timestamp> {
        let planned = self.facts.shared.continue_at.as_ref()?;
        let is_free = self.turn.is_idle()
            && !self.queue.is_given()
            && !self.tie.has_history_under_way()
            && self.has_project()
            && self.takes_messages().is_ok()
            && !self.is_comparing();
        let is_in_time = self.clock.now().wall <= planned.at.after(TOO_LATE);
        (is_free && is_in_time).then_some(planned.at)
    }

    /// Sends the planned message if it is time. The commit that keeps the message removes the plan.
    pub(super) fn continue_if_due(&mut self) {
        if self.continues_at().is_none_or(|at| at > self.clock.now().wall) {
            return;
        }
        let Some(planned) = self.facts.shared.continue_at.clone() else { return };
        let (reply, _nobody_waits) = oneshot::channel();
        let prompt = Prompt { content: planned.content, attachments: Vec::new() };
        let when_busy = WhenBusy::Refuse;
        let (request_id, sender) = (None, None);
        self.answer(SessionRequest::Send { prompt, request_id, when_busy, sender, reply });
    }
}
