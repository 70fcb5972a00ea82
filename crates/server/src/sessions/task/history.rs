//! Shows a session, after reading the agent's own history where necessary.

use super::super::open::{self, Wanted};
use super::super::recorder::Step;
use super::super::session::{Open, Reply};
use super::super::tie::{HistoryFit, Reason};
use super::{SessionTask, WaitingRequest};
use crate::failure::Failure;
use crate::journal::Change;

impl SessionTask {
    pub(super) fn open(&mut self, open: Open, reply: Reply<()>) {
        self.look_for_history();
        if let Err(WaitingRequest::Open(open, reply)) =
            self.tie.wait(WaitingRequest::Open(open, reply))
        {
            self.show(open, reply);
        }
    }

    pub(super) fn read(&mut self, reply: Reply<()>) {
        self.look_for_history();
        if let Err(WaitingRequest::Read(reply)) = self.tie.wait(WaitingRequest::Read(reply)) {
            let _asker_left = reply.send(Ok(()));
        }
    }

    pub(super) fn load(&mut self, reply: Reply<()>) {
        self.look_for_history();
        if let Err(WaitingRequest::Load(reply)) = self.tie.wait(WaitingRequest::Load(reply)) {
            self.show_to_followers();
            self.keep_open(reply);
        }
    }

    /// Reads the agent's own history first if it may contain more than the journal. An incomplete history is sent to
    /// nobody, so a browser that opened the session in the meantime would miss it.
    pub(super) fn look_for_history(&mut self) {
        if !self.tie.has_history_under_way() && self.must_read_agent() {
            self.attach(Reason::History);
        }
    }

    /// Whether the agent may know more of this session than the journal: the journal never saw it, or the agent keeps
    /// its own file, which may have grown outside.
    fn must_read_agent(&self) -> bool {
        if self.tie.being_made_for().is_some() {
            return false;
        }
        let may_have_grown = self.facts.mark.is_some() && !self.provider.is_alive(self.facts.id());
        self.turn.is_idle() && (!self.recorder.is_in_journal() || may_have_grown)
    }

    pub(super) fn replace_history(&mut self) {
        // The new history does not continue what browsers have, so they must discard it.
        let stream = uuid::Uuid::new_v4().to_string();
        self.commit(Step::quiet(Change::Stream(stream)), None);
        self.tie.history_replaced();
    }

    /// The agent's history is complete: the requests that wait for it now wait for the commit.
    pub(super) fn end_history(&mut self) {
        let now = self.clock.now();
        let emissions = self.intake.processor.flush_all(now);
        self.emit(emissions, now.wall);
        // Committed even if it is empty, so that the journal knows this session.
        self.commit(Step::default(), None);
        // Turns from elsewhere are not news.
        if !self.around.unread.has(self.facts.id()) {
            self.around.journal.look(self.facts.id(), Box::new(|| {}));
        }
        self.tie.history_ended(self.recorder.transcript().seq());
        self.join_turn_elsewhere();
    }

    /// The agent's history is on disk. All followers get it first, then those that asked: a later opening replaces an
    /// earlier one, and only the reply to a request carries its id.
    pub(super) fn show_history(&mut self, fit: HistoryFit, waiting: Vec<WaitingRequest>) {
        if fit == HistoryFit::Replaces {
            self.show_to_followers();
        }
        self.show_waiting(waiting, &Ok(()));
    }

    /// Reading the agent's history succeeded or failed: answers the requests that waited for it.
    pub(super) fn show_waiting(
        &mut self,
        waiting: Vec<WaitingRequest>,
        outcome: &Result<(), Failure>,
    ) {
        let is_only_read = waiting.iter().all(|it| matches!(it, WaitingRequest::Read(_)));
        let (mut loads, mut sends) = (Vec::new(), Vec::new());
        for waiter in waiting {
            match (waiter, outcome) {
                // A session that is in the journal is shown in any case.
                (WaitingRequest::Open(_, reply), Err(failure))
                    if !self.recorder.is_in_journal() =>
                {
                    let _asker_left = reply.send(Err(failure.clone()));
                }
                (WaitingRequest::Open(open, reply), _) => self.show(open, reply),
                (WaitingRequest::Read(reply), _) => {
                    let _asker_left = reply.send(outcome.clone());
                }
                (WaitingRequest::Load(reply), _) => loads.push(reply),
                (WaitingRequest::Send(message), _) => sends.push(message),
            }
        }
        if !loads.is_empty() {
            self.show_to_followers();
        }
        for reply in loads {
            match outcome {
                Ok(()) => self.keep_open(reply),
                Err(failure) => {
                    let _asker_left = reply.send(Err(failure.clone()));
                }
            }
        }
        for message in sends {
            self.send(message);
        }
        if is_only_read && !self.recorder.has_followers() {
            // Only who sees the session looks whether the turn elsewhere goes on.
            self.follow_no_more();
        }
    }

    /// Registers the outbox first and then reads, so that no change is missed in between.
    fn show(&mut self, open: Open, reply: Reply<()>) {
        let Open { outbox, since, around, follow, request_id } = open;
        let opening = self.recorder.follow(&outbox, follow);
        let (journal, id) = (self.around.journal.clone(), self.facts.id().clone());
        let policy = self.facts.policy;
        tokio::spawn(async move {
            let wanted = Wanted { since, around };
            let result = open::read(&journal, id.clone(), wanted, policy, request_id).await;
            let answer = match result {
                Ok(history) => {
                    outbox.history(&id, opening, history.seq, &history.frame);
                    Ok(())
                }
                Err(error) => {
                    outbox.unfollow(&id);
                    Err(Failure::from(error).about(id))
                }
            };
            let _asker_left = reply.send(answer);
        });
    }

    /// Sends the history to every follower again.
    fn show_to_followers(&mut self) {
        for (outbox, follow) in self.recorder.followers() {
            let (reply, _not_waited_for) = tokio::sync::oneshot::channel();
            let open = Open { outbox, since: None, around: None, follow, request_id: None };
            self.show(open, reply);
        }
    }
}
