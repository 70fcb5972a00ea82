//! What the agent says: through the processor into the transcript, the journal and, once there, to browsers.

use std::sync::Arc;

use liminal_agents::{Metered, Output};
use liminal_contract::{
    Severity, Timestamp, TurnEvent, TurnEventKind, TurnOrigin, TurnOutcome, TurnStatus,
};
use liminal_stream::{Emission, SessionFact, Upsert};

use super::{Reading, SessionTask};
use crate::journal::{Change, TurnRow};
use crate::store::TitleBy;
use crate::ws::outbox::Told;

impl SessionTask {
    pub(super) fn apply(&mut self, metered: Metered) {
        self.charges.extend(metered.charge);
        match metered.output {
            Output::Event(event) => {
                let at = event.timestamp;
                let emissions = self.processor.process(event, self.now());
                self.emit(emissions, at);
                self.listen();
            }
            Output::Fact(fact) => self.learn(fact),
            Output::HistoryReplaced => {
                // What browsers hold no longer follows from what comes now: they are to forget it.
                let stream = uuid::Uuid::new_v4().to_string();
                self.commit(vec![Change::Stream(stream)], Vec::new(), None);
                self.replaced = true;
            }
            Output::HistoryTold => self.end_history(),
            Output::AgentLeft(details) => self.agent_left(&details),
        }
        if self.processor.next_deadline().is_none() {
            // Nothing is pending in memory: what these outputs weighed is committed or was nothing.
            self.charges.clear();
        }
    }

    /// All of a history was told: whoever waits for it waits for the journal now.
    pub(super) fn end_history(&mut self) {
        let now = self.now();
        let emissions = self.processor.flush_all(now);
        self.emit(emissions, now.wall);
        // Committed even when it was empty, so that the journal has seen this session.
        self.commit(Vec::new(), Vec::new(), None);
        self.reading = Reading::Told(self.transcript.seq());
    }

    /// Takes what the processor emitted, as one commit.
    pub(super) fn emit(&mut self, emissions: Vec<Emission>, at: Timestamp) {
        let (mut changes, mut told) = (Vec::new(), Vec::new());
        // Everyone who follows gets all of it when it is told.
        let nobody_looks = self.is_reading() && (self.replaced || self.followers.is_empty());
        for emission in emissions {
            match emission {
                Emission::Upsert(upsert) if nobody_looks => {
                    changes.extend(self.transcript.retell(upsert));
                }
                Emission::Upsert(upsert) => {
                    let applied = self.transcript.apply(upsert, None);
                    changes.extend(applied.changes);
                    told.push((applied.seq, applied.told));
                }
                Emission::Turn(event) => {
                    let (change, news) = self.turn_changed(event, at);
                    changes.extend(change);
                    told.push(news);
                    if self.turn.is_idle()
                        && let Some(note) = self.settled_silence()
                    {
                        // In the same commit: one of its own would be told before the end of the turn that has the
                        // lower number, and whoever has seen a higher one takes that for old.
                        let applied = self.transcript.apply(note, None);
                        changes.extend(applied.changes);
                        told.push((applied.seq, applied.told));
                    }
                }
            }
        }
        if nobody_looks {
            told.clear();
        }
        if !changes.is_empty() {
            self.commit(changes, told, None);
            self.answer_by_policy();
        }
    }

    /// Takes one item of our own.
    pub(super) fn put(&mut self, upsert: Upsert) {
        let applied = self.transcript.apply(upsert, None);
        self.commit(applied.changes, vec![(applied.seq, applied.told)], None);
    }

    fn turn_changed(&mut self, event: TurnEvent, at: Timestamp) -> (Vec<Change>, (u64, Told)) {
        let seq = self.transcript.next_seq();
        let known = self.turns.remove(&event.turn_id);
        let mut row = known
            .unwrap_or_else(|| TurnRow::started(event.turn_id.clone(), seq, TurnOrigin::Agent, at));
        row.seq = seq;
        let mut changes = Vec::new();
        match &event.kind {
            TurnEventKind::TurnStarted { model_id, origin, .. } => {
                if self.is_reading() {
                    row.origin = *origin;
                } else if self.turn.is_idle() {
                    row.origin = TurnOrigin::Agent;
                    self.transcript.begin_turn();
                    self.turn = super::Turn::Running { id: event.turn_id.clone() };
                } else {
                    self.run_turn(&event.turn_id);
                }
                row.model_id = (!model_id.is_empty()).then(|| model_id.clone());
                self.turns.insert(event.turn_id.clone(), row.clone());
            }
            TurnEventKind::TurnComplete { status, usage, stop_reason } => {
                row.end(
                    at,
                    match status {
                        TurnStatus::Completed => TurnOutcome::Completed,
                        TurnStatus::Cancelled => TurnOutcome::Cancelled,
                    },
                );
                row.usage.clone_from(usage);
                row.stop_reason.clone_from(stop_reason);
                changes.extend(self.turn_ended(&event, false));
            }
            TurnEventKind::TurnError { error_code, error_message, details } => {
                row.end(at, TurnOutcome::Failed);
                row.error_code = Some(*error_code);
                row.error_message = Some(error_message.clone());
                row.details.clone_from(details);
                changes.extend(self.turn_ended(&event, true));
            }
        }
        changes.push(Change::Turn(Box::new(row)));
        (changes, (seq, Told::Turn(Arc::new(event))))
    }

    /// Whether what comes now is history, not news.
    fn is_reading(&self) -> bool {
        self.reading == Reading::UnderWay
    }

    fn turn_ended(&mut self, event: &TurnEvent, failed: bool) -> Option<Change> {
        if self.is_reading() || !self.turn.end(&event.turn_id) {
            return None;
        }
        self.transcript.end_turn();
        self.silence.rest();
        self.failed = failed;
        let now = self.now().wall;
        self.record.last_active_at = now;
        self.around.sessions.update_later(self.id.clone(), move |record| {
            record.last_active_at = now;
        });
        Some(Change::Meta { title: None, last_active_at: now })
    }

    fn learn(&mut self, fact: SessionFact) {
        match fact {
            SessionFact::Title(title) => {
                let title = liminal_render::visible(title.trim());
                if !title.is_empty() {
                    self.retitle(title, TitleBy::Agent);
                }
            }
            SessionFact::Model(model) => {
                if let Some(row) = self.turn.id().and_then(|id| self.turns.get_mut(id)) {
                    row.model_id = Some(model);
                }
            }
            SessionFact::HistoryMark(mark) => {
                self.mark = Some(mark.clone());
                self.commit(vec![Change::Mark(mark)], Vec::new(), None);
            }
            SessionFact::DecidesByItself => {
                if let Some(turn) = self.turn.id().cloned() {
                    let text =
                        "This agent decides by itself what it may do; it can't be made to ask.";
                    self.note(&turn, Severity::Warning, text.to_owned(), Vec::new());
                }
            }
            SessionFact::Other { kind, value } if kind == "agentRef" => {
                // The agent calls the session something else from now on.
                if let Some(agent_ref) = value.as_str().map(str::to_owned) {
                    self.record.agent_ref = Some(agent_ref.clone());
                    self.around.sessions.update_later(self.id.clone(), move |record| {
                        record.agent_ref = Some(agent_ref);
                    });
                }
            }
            fact @ (SessionFact::Modes { .. }
            | SessionFact::Commands(_)
            | SessionFact::Usage(_)
            | SessionFact::Other { .. }) => {
                tracing::debug!(session = %self.id, ?fact, "a fact about the session");
            }
        }
    }
}
