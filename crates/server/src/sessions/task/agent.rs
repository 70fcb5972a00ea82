//! What the task asks of the agent. Each takes time, so each runs elsewhere and comes back.

use liminal_agents::{
    History, LoadSession, NewSession, ProviderError, ProviderSession, auto_answer,
};
use liminal_contract::{
    Answer, Details, ItemId, ItemStatus, NoticeAction, Outcome, OutcomeBy, Severity, TurnId,
    TurnOrigin,
};
use liminal_stream::{
    AgentError, FinalItem, Notice, Payload, ResponseStatus, Source, StreamEvent, Upsert,
};

use super::super::session::Reply;
use super::super::turn::Turn;
use super::{Attachment, Done, Reading, Reason, SessionTask};
use crate::failure::Failure;
use crate::journal::TurnRow;

/// Our own notices are numbered from here, so that they never meet a provider's.
const FIRST_NOTE: usize = 1_000_000;

impl SessionTask {
    /// Takes the session up with its agent, unless that is under way.
    pub(super) fn attach(&mut self, reason: Reason) {
        if let Attachment::Making(_) = self.attachment {
            return;
        }
        let history = match (reason, &self.mark) {
            (Reason::Message | Reason::Anew, _) => History::Known,
            (Reason::History, None) => History::All,
            (Reason::History, Some(mark)) => {
                History::After { mark: mark.clone(), known: Vec::new() }
            }
        };
        self.reading = match history {
            History::Known => Reading::No,
            History::All | History::After { .. } => Reading::UnderWay,
        };
        self.attachment = Attachment::Making(reason);
        let mut load = LoadSession {
            session_id: self.id.clone(),
            agent_ref: self.record.agent_ref.clone().unwrap_or_else(|| self.id.local().to_owned()),
            project_dir: self.around.project_dir(&self.record.project_id),
            history,
        };
        let (provider, back) = (self.provider.clone(), self.back.clone());
        let (journal, id) = (self.around.journal.clone(), self.id.clone());
        tokio::spawn(async move {
            if let History::After { known, .. } = &mut load.history {
                // A turn of ours that a crash cut short is behind the mark, and must not be told a second time.
                match journal.read(move |reader| reader.turn_ids(&id)).await {
                    Ok(turns) => *known = turns,
                    Err(error) => {
                        tracing::warn!(%error, "what was said elsewhere is not read");
                        load.history = History::Known;
                    }
                }
            }
            let result = provider.load_session(load).await;
            let _task_ended = back.send(Done::Attached(result));
        });
    }

    /// The agent does not know the session any more, or never kept it: it goes on under the same id of ours with a
    /// new one of the agent's.
    fn start_anew(&mut self) {
        self.attachment = Attachment::Making(Reason::Anew);
        let new = NewSession {
            project_dir: self.around.project_dir(&self.record.project_id),
            session_id: Some(self.id.clone()),
        };
        let (provider, back) = (self.provider.clone(), self.back.clone());
        tokio::spawn(async move {
            let result = provider.create_session(new).await;
            let _task_ended = back.send(Done::Attached(result));
        });
    }

    /// Remembers what the agent calls the session now, and says so when there is something it does not remember.
    fn started_anew(&mut self, agent_ref: String) {
        self.record.agent_ref = Some(agent_ref.clone());
        self.mark = None;
        self.around.sessions.update_later(self.id.clone(), move |record| {
            record.agent_ref = Some(agent_ref);
        });
        if let Some(turn) = self.turn.id().cloned()
            && self.transcript.holds_more_than_one()
        {
            let text = "The agent no longer has this session, so it starts anew: it does not remember what was said above.";
            self.note(&turn, Severity::Warning, text.to_owned(), Vec::new());
        }
    }

    pub(super) fn attached(&mut self, result: Result<ProviderSession, ProviderError>) {
        let made_for = match self.attachment {
            Attachment::Making(reason) => Some(reason),
            Attachment::None | Attachment::Made(_) => None,
        };
        match result {
            Err(ProviderError::SessionUnknown { .. })
                if made_for == Some(Reason::Message) && self.prompt.is_some() =>
            {
                self.start_anew();
            }
            Ok(session) => {
                if made_for == Some(Reason::Anew) {
                    self.started_anew(session.agent_ref.clone());
                }
                self.attachment = Attachment::Made(session.output);
                self.deliver_prompt();
            }
            Err(error) => {
                self.attachment = Attachment::None;
                self.reading = Reading::No;
                let failure = self.failure(&error);
                self.show_waiting(&Err(failure));
                if let Some(prompt) = self.prompt.take() {
                    self.fail_turn(&prompt.turn, &error);
                }
            }
        }
    }

    /// Gives the agent what the user said, now that it is on disk.
    pub(super) fn deliver_prompt(&mut self) {
        if !self.prompt.as_ref().is_some_and(|prompt| prompt.is_on_disk) {
            return;
        }
        if let Turn::Starting { id, stop: true } = &self.turn {
            let turn = id.clone();
            self.prompt = None;
            self.end_turn_as_cancelled(&turn);
            return;
        }
        if !matches!(self.attachment, Attachment::Made(_)) {
            return self.attach(Reason::Message);
        }
        let Some(prompt) = self.prompt.take() else { return };
        let (provider, id, back) = (self.provider.clone(), self.id.clone(), self.back.clone());
        tokio::spawn(async move {
            let result = provider.send_message(&id, &prompt.turn, &prompt.content).await;
            let _task_ended = back.send(Done::Sent { turn: prompt.turn, result });
        });
    }

    pub(super) fn sent(&mut self, turn: &TurnId, result: Result<(), ProviderError>) {
        match result {
            Ok(()) => {
                self.run_turn(turn);
                self.listen();
            }
            Err(error) => self.fail_turn(turn, &error),
        }
    }

    /// The agent is at it; if the user asked to stop meanwhile, it is told now.
    pub(super) fn run_turn(&mut self, turn: &TurnId) {
        // A short turn may be over before the word that it began comes back.
        if self.turn.id() == Some(turn) && !self.turn.run(turn) {
            self.tell_agent_to_stop(None);
        }
    }

    pub(super) fn tell_agent_to_stop(&self, reply: Option<Reply<()>>) {
        let Some(turn) = self.turn.id().cloned() else { return };
        let (provider, id, back) = (self.provider.clone(), self.id.clone(), self.back.clone());
        tokio::spawn(async move {
            let result = provider.cancel_turn(&id).await;
            let _task_ended = back.send(Done::Stopped { turn, result, reply });
        });
    }

    pub(super) fn stopped(
        &mut self,
        turn: &TurnId,
        result: Result<(), ProviderError>,
        reply: Option<Reply<()>>,
    ) {
        let answer = result.map_err(|error| {
            let failure = self.failure(&error);
            if self.turn.id() == Some(turn) {
                // The stop did not reach it. For the user the turn is over; what still comes of it is not shown.
                self.note(
                    turn,
                    Severity::Warning,
                    failure.message.clone(),
                    vec![NoticeAction::Restart],
                );
                self.end_turn_as_cancelled(turn);
            }
            failure
        });
        if let Some(reply) = reply {
            let _asker_left = reply.send(answer);
        }
    }

    /// Answers what the policy may answer.
    pub(super) fn answer_by_policy(&mut self) {
        if self.policy != liminal_contract::Policy::Auto {
            return;
        }
        for (_, item) in self.transcript.open_asks() {
            let answer = self.transcript.open_ask(&item).and_then(auto_answer);
            if let Some(answer) = answer.filter(|_| !self.answering.contains(&item)) {
                self.give_answer(item, answer, OutcomeBy::Policy, None);
            }
        }
    }

    pub(super) fn give_answer(
        &mut self,
        item: ItemId,
        answer: Answer,
        by: OutcomeBy,
        reply: Option<Reply<()>>,
    ) {
        self.answering.push(item.clone());
        let (provider, id, back) = (self.provider.clone(), self.id.clone(), self.back.clone());
        tokio::spawn(async move {
            let result = provider.answer(&id, &item, answer, by).await;
            let _task_ended = back.send(Done::Answered { item, result, reply });
        });
    }

    pub(super) fn answered(
        &mut self,
        item: &ItemId,
        result: Result<(), ProviderError>,
        reply: Option<Reply<()>>,
    ) {
        self.answering.retain(|answering| answering != item);
        if let Err(error) = &result {
            tracing::warn!(session = %self.id, %item, %error, "an answer did not reach the agent");
            // Whoever asked is gone, and would leave the question standing for ever.
            self.void_asks(OutcomeBy::AgentLeft, |_, asked| asked == item);
        }
        if let Some(reply) = reply {
            let _asker_left = reply.send(result.map_err(|error| self.failure(&error)));
        }
    }

    /// Closes the open questions that are meant, when nobody is left to answer to.
    pub(super) fn void_asks(&mut self, by: OutcomeBy, meant: impl Fn(&TurnId, &ItemId) -> bool) {
        for (turn, item_id) in self.transcript.open_asks() {
            if meant(&turn, &item_id) {
                let outcome = Outcome { option_id: None, by };
                let final_item = FinalItem::Permission { outcome };
                self.say_here(&turn, Payload::ItemDone { item_id, final_item });
            }
        }
    }

    /// A turn that the agent itself could not end.
    pub(super) fn fail_turn(&mut self, turn: &TurnId, error: &ProviderError) {
        let error = AgentError {
            code: error.code().as_str().to_owned(),
            message: error.to_string(),
            details: error.details(),
        };
        self.end_turn_here(turn, Payload::ResponseError { error });
    }

    /// Ends a turn as the user wished.
    pub(super) fn end_turn_as_cancelled(&mut self, turn: &TurnId) {
        let payload = Payload::ResponseDone {
            status: ResponseStatus::Cancelled,
            finish_reason: None,
            stop_reason: None,
            error: None,
            usage: None,
        };
        self.end_turn_here(turn, payload);
    }

    /// Ends a turn from our side, and what it asks with it.
    fn end_turn_here(&mut self, turn: &TurnId, payload: Payload) {
        self.void_asks(OutcomeBy::Cancel, |asking, _| asking == turn);
        self.say_here(turn, payload);
    }

    /// An event like the agent's own, so that every pending word goes out before it and nothing of an ended turn after
    /// it.
    fn say_here(&mut self, turn: &TurnId, payload: Payload) {
        let now = self.now();
        let event = StreamEvent {
            event_id: uuid::Uuid::now_v7().to_string(),
            timestamp: now.wall,
            turn_id: turn.clone(),
            session_id: self.id.clone(),
            payload,
        };
        let emissions = self.processor.process(event, now);
        self.emit(emissions, now.wall);
    }

    /// Says something about the session in its transcript.
    pub(super) fn note(
        &mut self,
        turn: &TurnId,
        severity: Severity,
        text: String,
        actions: Vec<NoticeAction>,
    ) {
        let note = self.new_note(turn, severity, text, actions, ItemStatus::Complete);
        self.put(note);
    }

    pub(super) fn new_note(
        &mut self,
        turn: &TurnId,
        severity: Severity,
        text: String,
        actions: Vec<NoticeAction>,
        status: ItemStatus,
    ) -> Upsert {
        self.notes += 1;
        let now = self.now().wall;
        Upsert {
            turn_id: turn.clone(),
            session_id: self.id.clone(),
            item_id: ItemId::note(turn, FIRST_NOTE + self.notes),
            source_timestamp: now,
            emitted_at: now,
            started_at: now,
            status,
            failure: None,
            parent_call_id: None,
            source: Source::Notice(Notice { severity, text, actions, details: None }),
        }
    }

    /// The agent has been quiet: say so, with what can be done.
    pub(super) fn note_silence(&mut self) {
        let Some(turn) = self.turn.id().cloned() else { return };
        let seconds = self.around.patience.as_secs_f32().ceil();
        let text = format!(
            "No word from the agent for {seconds} s. It may still be working: wait, stop it, or restart it."
        );
        let actions = vec![NoticeAction::Cancel, NoticeAction::Restart];
        let note = self.new_note(&turn, Severity::Info, text, actions, ItemStatus::Create);
        self.silence_note = Some(note.clone());
        self.put(note);
    }

    /// The notice of a silence as it is once the agent spoke again, or nothing is expected of it any more.
    pub(super) fn settled_silence(&mut self) -> Option<Upsert> {
        let mut note = self.silence_note.take()?;
        note.status = ItemStatus::Complete;
        note.emitted_at = self.now().wall;
        if let Source::Notice(notice) = &mut note.source {
            "The agent was quiet for a while.".clone_into(&mut notice.text);
            notice.actions.clear();
        }
        Some(note)
    }

    /// Whether the agent is expected to speak, from now on.
    pub(super) fn listen(&mut self) {
        // What it does by itself it need not go on with.
        let is_asked = |row: &TurnRow| row.origin == TurnOrigin::User;
        let expected = matches!(self.turn, Turn::Running { .. })
            && self.turn.id().and_then(|id| self.turns.get(id)).is_some_and(is_asked)
            && !self.transcript.has_open_call()
            && !self.transcript.has_open_ask();
        let was_told =
            if expected { self.silence.spoke(self.began.elapsed()) } else { self.silence.rest() };
        if was_told && let Some(note) = self.settled_silence() {
            self.put(note);
        }
    }

    /// What the user is told of a provider's error.
    pub(super) fn failure(&self, error: &ProviderError) -> Failure {
        Failure::from(error.clone()).about(self.id.clone())
    }

    /// The agent is gone.
    pub(super) fn agent_left(&mut self, details: &Details) {
        tracing::info!(session = %self.id, ?details.hint, "the agent left");
        self.detach();
    }

    /// Nothing comes from the agent any more. What it told of a history is all there will be of it.
    pub(super) fn detach(&mut self) {
        self.attachment = Attachment::None;
        if self.reading == Reading::UnderWay {
            self.end_history();
        }
    }
}
