//! Our own additions to a conversation: the end of a turn that the agent can't end, and notices.

use liminal_agents::ProviderError;
use liminal_contract::{Details, ItemId, ItemStatus, NoticeAction, OutcomeBy, Severity, TurnId};
use liminal_stream::{AgentError, Notice, Payload, ResponseStatus, Source, StreamEvent, Upsert};

use super::SessionTask;

impl SessionTask {
    /// Ends a turn that the agent could not end.
    pub(super) fn fail_turn(&mut self, turn: &TurnId, error: &ProviderError) {
        let error = AgentError {
            code: error.code().as_str().to_owned(),
            message: error.to_string(),
            details: error.details(),
        };
        self.end_turn_here(turn, Payload::ResponseError { error });
    }

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

    /// Ends a turn and closes its permissions.
    fn end_turn_here(&mut self, turn: &TurnId, payload: Payload) {
        self.close_permissions(OutcomeBy::Cancel, |asking, _| asking == turn);
        self.say_here(turn, payload);
    }

    /// Handled like an event of the agent, so that pending text is sent before it and nothing of an ended turn after
    /// it.
    pub(super) fn say_here(&mut self, turn: &TurnId, payload: Payload) {
        let now = self.clock.now();
        let event = StreamEvent {
            event_id: uuid::Uuid::now_v7().to_string(),
            timestamp: now.wall,
            turn_id: turn.clone(),
            session_id: self.facts.id().clone(),
            payload,
        };
        let emissions = self.intake.processor.process(event, now);
        self.emit(emissions, now.wall);
    }

    /// Adds a notice to the transcript.
    pub(super) fn note(
        &mut self,
        turn: &TurnId,
        severity: Severity,
        text: String,
        actions: Vec<NoticeAction>,
    ) {
        let notice = Notice { severity, text, actions, details: None };
        let note = self.new_note(turn, notice, ItemStatus::Complete);
        self.put(note);
    }

    /// Tells of an act on changes. Its id is its own: a turn may have notices of an earlier run.
    pub(super) fn note_act(&mut self, turn: &TurnId, text: String, details: Details) {
        let details = (details != Details::default()).then_some(details);
        let (severity, actions) = (Severity::Info, Vec::new());
        let notice = Notice { severity, text, actions, details };
        let note = self.new_note(turn, notice, ItemStatus::Complete);
        let item_id = ItemId::steered(turn, &format!("act:{}", uuid::Uuid::now_v7()));
        self.put(Upsert { item_id, ..note });
    }

    fn new_note(&mut self, turn: &TurnId, notice: Notice, status: ItemStatus) -> Upsert {
        let now = self.clock.now().wall;
        Upsert {
            turn_id: turn.clone(),
            session_id: self.facts.id().clone(),
            item_id: self.recorder.note_id(turn),
            source_timestamp: now,
            emitted_at: now,
            started_at: now,
            status,
            failure: None,
            parent_call_id: None,
            source: Source::Notice(notice),
        }
    }

    /// Adds a notice that the agent has been quiet, with actions.
    pub(super) fn note_silence(&mut self) {
        let Some(turn) = self.turn.id().cloned() else {
            let _no_notice = self.intake.silence.rest();
            return;
        };
        let seconds = self.intake.silence.patience().as_secs_f32().ceil();
        let text = format!(
            "No output from the agent for {seconds} s. It may still be working: wait, stop it, or restart it."
        );
        let actions = vec![NoticeAction::Cancel, NoticeAction::Restart];
        let notice = Notice { severity: Severity::Info, text, actions, details: None };
        let note = self.new_note(&turn, notice, ItemStatus::Create);
        self.intake.silence.noticed(note.clone());
        self.put(note);
    }
}
