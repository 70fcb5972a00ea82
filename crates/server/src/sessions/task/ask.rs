//! What browsers ask of a session.

use std::hash::{DefaultHasher, Hash, Hasher};

use liminal_contract::{
    Answer, ErrorCode, ItemId, ItemStatus, MessageOrigin, OutcomeBy, ServerMessage, TurnId,
    TurnOrigin,
};
use liminal_stream::{Source, Upsert};
use uuid::Uuid;

use super::super::failures::other_content;
use super::super::open::{self, Wanted};
use super::super::session::{Ask, Open, Reply};
use super::super::title;
use super::super::turn::{Stop, Turn};
use super::{Attachment, Done, Prompt, Reading, Reason, Said, SessionTask, Then};
use crate::failure::Failure;
use crate::journal::{Change, TurnRow};
use crate::store::TitleBy;

impl SessionTask {
    pub(super) fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Open(open, reply) => self.open(open, reply),
            Ask::Load(reply) => self.load(reply),
            Ask::Send { content, request_id, reply } => {
                let said = Said { content, request_id, reply };
                // Said after all of the history, it stands after all of it.
                match self.reading {
                    Reading::No => self.send(said),
                    Reading::UnderWay | Reading::Told(_) => self.waiting_to_send.push(said),
                }
            }
            Ask::Cancel(reply) => self.cancel(reply),
            Ask::Answer { item, answer, reply } => self.answer_ask(item, answer, reply),
            Ask::Policy(policy) => {
                self.policy = policy;
                self.record.policy = Some(policy);
                self.answer_by_policy();
            }
            Ask::Kill(reply) => {
                let (provider, id, back) =
                    (self.provider.clone(), self.id.clone(), self.back.clone());
                tokio::spawn(async move {
                    let result = provider.kill_session(&id).await;
                    let _task_ended = back.send(Done::Killed { result, reply });
                });
            }
            Ask::Rest(reply) => {
                let now = self.now();
                let emissions = self.processor.flush_all(now);
                self.emit(emissions, now.wall);
                // What the agent says while it is being ended is not part of the conversation.
                self.attachment = Attachment::None;
                self.resting.push(reply);
                self.publish(0);
            }
        }
    }

    fn open(&mut self, open: Open, reply: Reply<()>) {
        if self.waits_for_history() {
            self.waiting_to_open.push((open, reply));
        } else {
            self.show(open, reply);
        }
    }

    fn load(&mut self, reply: Reply<()>) {
        if self.waits_for_history() {
            self.waiting_to_load.push(reply);
        } else {
            self.show_to_followers();
            let _asker_left = reply.send(Ok(()));
        }
    }

    /// Whether the session can be shown only later, because the agent's own history is to be read first. What of it is
    /// under way is told to nobody, so whoever opened the session meanwhile would miss it.
    fn waits_for_history(&mut self) -> bool {
        if self.reading == Reading::No && self.must_read_agent() {
            self.attach(Reason::History);
        }
        self.reading != Reading::No
    }

    /// Whether the agent may know more of this session than the journal: it was never seen here, or the agent keeps a
    /// file of its own that may have grown elsewhere.
    fn must_read_agent(&self) -> bool {
        match self.attachment {
            Attachment::Making(_) => false,
            Attachment::None | Attachment::Made(_) => {
                let may_have_grown = self.mark.is_some() && !self.provider.is_alive(&self.id);
                self.turn.is_idle() && (!self.seen || may_have_grown)
            }
        }
    }

    /// The agent told its history, or could not: whoever waited for it can be answered.
    pub(super) fn show_waiting(&mut self, outcome: &Result<(), Failure>) {
        for (open, reply) in std::mem::take(&mut self.waiting_to_open) {
            match outcome {
                // What we have ourselves is shown in any case.
                Err(failure) if !self.seen => {
                    let _asker_left = reply.send(Err(failure.clone()));
                }
                _ => self.show(open, reply),
            }
        }
        let loads = std::mem::take(&mut self.waiting_to_load);
        if !loads.is_empty() {
            self.show_to_followers();
        }
        for reply in loads {
            let _asker_left = reply.send(outcome.clone());
        }
        for said in std::mem::take(&mut self.waiting_to_send) {
            self.send(said);
        }
    }

    /// Registers the outbox first and reads then, so that nothing falls between.
    fn show(&mut self, open: Open, reply: Reply<()>) {
        let Open { outbox, since, around, follow, request_id } = open;
        self.openings += 1;
        let opening = self.openings;
        // Whoever has closed it meanwhile gets its answer and no more.
        if outbox.follows(&self.id).is_some() {
            outbox.follow(&self.id, opening, follow);
        }
        if !self.followers.iter().any(|follower| std::sync::Arc::ptr_eq(follower, &outbox)) {
            self.followers.push(outbox.clone());
        }
        let (journal, id, policy) = (self.around.journal.clone(), self.id.clone(), self.policy);
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

    /// Gives everyone who follows the history anew.
    pub(super) fn show_to_followers(&mut self) {
        for outbox in self.followers.clone() {
            let follow = outbox.follows(&self.id);
            let (reply, _not_waited_for) = tokio::sync::oneshot::channel();
            if let Some(follow) = follow {
                let open = Open { outbox, since: None, around: None, follow, request_id: None };
                self.show(open, reply);
            }
        }
    }

    fn send(&mut self, Said { content, request_id, reply }: Said) {
        let request_id = request_id.filter(|id| Uuid::try_parse(id).is_ok());
        let words = hash(&content);
        if let Some((turn, before)) = request_id.as_ref().and_then(|id| self.requests.get(id)) {
            let answer =
                if *before == words { Ok(turn.clone()) } else { Err(other_content(&self.id)) };
            let _asker_left = reply.send(answer);
            return;
        }
        if !self.turn.is_idle() {
            let busy = "The agent is still answering. Wait for it, or stop it, then send again.";
            let failure = Failure::new(ErrorCode::SessionBusy, busy).about(self.id.clone());
            let _asker_left = reply.send(Err(failure));
            return;
        }

        let turn = TurnId::new(Uuid::now_v7().to_string());
        let now = self.now().wall;
        if let Some(id) = &request_id {
            self.requests.insert(id.clone(), (turn.clone(), words));
        }
        let said = Upsert {
            turn_id: turn.clone(),
            session_id: self.id.clone(),
            item_id: ItemId::user(&turn),
            source_timestamp: now,
            emitted_at: now,
            started_at: now,
            status: ItemStatus::Complete,
            failure: None,
            parent_call_id: None,
            source: Source::Message { content: content.clone(), origin: MessageOrigin::User },
        };
        self.transcript.begin_turn();
        let applied = self.transcript.apply(said, request_id);
        let row = TurnRow::started(turn.clone(), self.transcript.next_seq(), TurnOrigin::User, now);
        self.turns.insert(turn.clone(), row.clone());
        self.turn = Turn::Starting { id: turn.clone(), stop: false };
        self.failed = false;
        self.prompt =
            Some(Prompt { turn: turn.clone(), content: content.clone(), is_on_disk: false });

        let mut changes = applied.changes;
        changes.push(Change::Turn(Box::new(row)));
        changes.push(self.touch(now, &content));
        let then = Then::Deliver { reply, turn };
        self.commit(changes, vec![(applied.seq, applied.told)], Some(then));
    }

    /// The session was active now; its first message names it.
    fn touch(&mut self, now: liminal_contract::Timestamp, message: &str) -> Change {
        let derived = (self.record.title == title::NEW_SESSION && self.record.title_by.is_none())
            .then(|| title::derive(message))
            .flatten();
        if let Some(title) = &derived {
            self.retitle(title.clone(), TitleBy::Derived);
        }
        self.record.last_active_at = now;
        self.around.sessions.update_later(self.id.clone(), move |record| {
            record.last_active_at = now;
        });
        Change::Meta { title: derived, last_active_at: now }
    }

    /// Takes a title unless a better one is there: the user's wins over the agent's, the agent's over a derived one.
    pub(super) fn retitle(&mut self, title: String, by: TitleBy) {
        let current = self.around.sessions.get(&self.id).ok().flatten();
        let standing = current.as_ref().and_then(|record| record.title_by);
        if standing > Some(by) || current.is_some_and(|record| record.title == title) {
            return;
        }
        self.record.title = title.clone();
        self.record.title_by = Some(by);
        let kept = title.clone();
        self.around.sessions.update_later(self.id.clone(), move |record| {
            if record.title_by <= Some(by) {
                record.title = kept;
                record.title_by = Some(by);
            }
        });
        self.around
            .hub
            .broadcast(ServerMessage::SessionTitleUpdated { session_id: self.id.clone(), title });
    }

    fn cancel(&mut self, reply: Reply<()>) {
        match self.turn.stop() {
            Stop::TellAgent => self.tell_agent_to_stop(Some(reply)),
            Stop::Nothing => {
                // A message that the agent does not have yet need not wait for it to start.
                self.deliver_prompt();
                let _asker_left = reply.send(Ok(()));
            }
        }
    }

    fn answer_ask(&mut self, item: ItemId, answer: Answer, reply: Reply<()>) {
        let offered = self.transcript.open_ask(&item).filter(|_| !self.answering.contains(&item));
        let Some(ask) = offered else {
            let closed = "This question is no longer open: it was answered, or the agent is gone.";
            let failure = Failure::new(ErrorCode::PermissionClosed, closed);
            let _asker_left = reply.send(Err(failure.about(self.id.clone())));
            return;
        };
        let known = |chosen: &String| ask.options.iter().any(|option| option.option_id == *chosen);
        if answer.option_id.as_ref().is_some_and(|chosen| !known(chosen)) {
            let failure = Failure::invalid("`optionId` is not one of those offered");
            let _asker_left = reply.send(Err(failure.about(self.id.clone())));
            return;
        }
        self.give_answer(item, answer, OutcomeBy::User, Some(reply));
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
