//! The agent's output: through the processor into the transcript and the journal and, once committed, to browsers.

use liminal_agents::{Metered, Output};
use liminal_contract::{
    FactsChange, QueueHold, SessionId, Timestamp, TurnEvent, TurnEventKind, TurnId, TurnOrigin,
    TurnOutcome, TurnStatus,
};
use liminal_stream::{AgentError, Emission, Payload, SessionFact, Upsert};

use super::super::facts::Learnt;
use super::super::pace::Interval;
use super::super::recorder::Step;
use super::{SessionTask, Then};
use crate::journal::Change;
use crate::store::TitleBy;

impl SessionTask {
    pub(super) fn apply(&mut self, metered: Metered) {
        self.recorder.charge(metered.charge);
        match metered.output {
            Output::Event(mut event) => {
                if let Payload::ResponseError { error } = &mut event.payload {
                    self.name_interrupted(error);
                }
                let (at, too_late) = (event.timestamp, self.intake.processor.too_late());
                let emissions = self.intake.processor.process(event, self.clock.now());
                if self.intake.processor.too_late() > too_late {
                    tracing::debug!(session = %self.facts.id(), "an event came too late to be shown");
                }
                self.emit(emissions, at);
                self.listen();
            }
            Output::Fact(fact) => self.learn(fact),
            Output::HistoryReplaced => self.replace_history(),
            Output::HistoryTold => self.end_history(),
            Output::Returned { message } => self.returned(&message),
            Output::AgentLeft(details) => self.agent_left(&details),
        }
        if self.intake.processor.next_deadline().is_none() {
            // Nothing is pending in memory: these outputs were handed to the journal, or led to no change.
            self.recorder.discharge();
        }
    }

    /// Adds which other sessions the process was working on when it ended.
    fn name_interrupted(&self, error: &mut AgentError) {
        let others = error.details.as_ref().and_then(|details| details.interrupted.as_deref());
        let title = |id: &SessionId| {
            let record = self.around.sessions.get(id).ok().flatten();
            record.map(|record| format!("“{}”", record.title))
        };
        let names: Vec<String> = others.into_iter().flatten().filter_map(title).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            error.message.push_str(&format!(" The same process was also working on {names}."));
        }
    }

    /// Whether this output is history that followers get later, when it is complete.
    fn is_unseen_history(&self) -> bool {
        self.tie.is_reading() && (self.tie.is_replacing() || !self.recorder.has_followers())
    }

    /// Commits everything the processor emitted at once.
    pub(super) fn emit(&mut self, emissions: Vec<Emission>, at: Timestamp) {
        let began = self.clock.elapsed();
        let (mut step, mut then) = (Step::default(), Vec::new());
        let is_unseen = self.is_unseen_history();
        for emission in emissions {
            match emission {
                Emission::Put(upsert) if is_unseen => {
                    let is_queued = self.queue.taken_as(&upsert.turn_id, &upsert.item_id).is_some();
                    step.append(self.recorder.retold(upsert));
                    if is_queued {
                        step.append(self.queue_step());
                    }
                }
                Emission::Put(upsert) => {
                    self.look_around_after(&upsert);
                    step.append(self.item(upsert, &mut then));
                }
                Emission::Grew(growth) => step.append(self.recorder.grew(growth)),
                Emission::Turn(event) => step.append(self.turn_changed(event, at)),
            }
        }
        if is_unseen {
            step = step.untold();
        }
        if !step.changes.is_empty() {
            self.commit(step, then);
            let cost = self.clock.elapsed() - began;
            let Interval { few, many } = self.intake.pace.interval(cost);
            self.intake.processor.set_interval(few, many);
        }
    }

    /// A permission that the policy answers is not shown until the agent has its answer.
    fn item(&mut self, mut upsert: Upsert, then: &mut Vec<Then>) -> Step {
        let Some(answer) = self.policy_answer(&mut upsert) else {
            return self.taken(upsert);
        };
        then.push(Then::Answer(answer));
        self.recorder.item(upsert, None).untold()
    }

    /// Commits one of our own items.
    pub(super) fn put(&mut self, upsert: Upsert) {
        let step = self.recorder.item(upsert, None);
        self.commit(step, None);
    }

    fn turn_changed(&mut self, event: TurnEvent, at: Timestamp) -> Step {
        let (turn, is_reading) = (event.turn_id.clone(), self.tie.is_reading());
        let is_new = matches!(event.kind, TurnEventKind::TurnStarted { .. })
            && !is_reading
            && self.turn.is_idle();
        let began = if is_new { self.begin_handed(&turn) } else { None };
        let ended = ending_of(&event.kind);
        let origin = match &event.kind {
            TurnEventKind::TurnStarted { origin, .. } if is_reading => Some(*origin),
            TurnEventKind::TurnStarted { .. } => self.turn_started(&turn),
            TurnEventKind::TurnComplete { .. } | TurnEventKind::TurnError { .. } => None,
        };
        let mut step = began.unwrap_or_default();
        step.append(self.recorder.turn(event, at, origin));
        if is_new && self.queue.turn_began() {
            step.append(self.queue_step());
        }
        if let Some((outcome, hold)) = ended.filter(|_| !is_reading && self.turn.end(&turn)) {
            step.changes.insert(0, self.turn_ended(outcome));
            self.checkpoint_after(&turn);
            let is_returned = self.queue.return_ungiven();
            if hold.is_some_and(|why| self.queue.turn_ended(why)) || is_returned {
                step.append(self.queue_step());
            }
        }
        if self.turn.is_idle()
            && let Some(note) = self.intake.silence.rest()
        {
            // In the same commit: a separate one would be sent before the end of the turn, which has the lower `seq`,
            // and a browser that has seen a higher `seq` ignores a lower one.
            let note = self.settled(note);
            step.append(self.recorder.item(note, None));
        }
        step
    }

    /// The agent began a turn: the user's, or one that it started itself, whose origin is returned.
    fn turn_started(&mut self, turn: &TurnId) -> Option<TurnOrigin> {
        if self.turn.is_idle() {
            self.recorder.transcript_mut().begin_turn();
            self.turn.begin_by_agent(turn.clone());
            self.checkpoint_late(turn);
            return Some(TurnOrigin::Agent);
        }
        self.run_turn(turn);
        None
    }

    fn turn_ended(&mut self, outcome: TurnOutcome) -> Change {
        self.recorder.transcript_mut().end_turn();
        self.facts.last_outcome = Some(outcome);
        self.around.unread.extend([self.facts.id().clone()]);
        let now = self.clock.now().wall;
        self.facts.record.last_active_at = now;
        self.around.sessions.touch(self.facts.id(), now);
        Change::Active(now)
    }

    /// Facts are committed and sent like every other change.
    pub(super) fn facts_changed(&mut self, change: FactsChange) {
        let step = self.facts_step(change);
        self.commit(step, None);
    }

    pub(super) fn facts_step(&mut self, change: FactsChange) -> Step {
        let step = self.recorder.facts(change);
        if self.is_unseen_history() { step.untold() } else { step }
    }

    fn learn(&mut self, fact: SessionFact) {
        match self.facts.learn(fact) {
            Learnt::Nothing => {}
            Learnt::Changed(change) => self.facts_changed(change),
            Learnt::Title(title) => {
                let title = liminal_render::visible(title.trim());
                if !title.is_empty() {
                    self.retitle(title, TitleBy::Agent);
                }
            }
            Learnt::Model(model) => {
                if let Some(turn) = self.turn.id() {
                    self.recorder.set_model(turn, model);
                }
            }
            Learnt::AgentRef(agent_ref) => self.keep_agent_ref(agent_ref),
            Learnt::Mark(mark) => self.commit(Step::quiet(Change::Mark(mark)), None),
        }
    }
}

/// How an event ends its turn, and what then holds the queue.
fn ending_of(event: &TurnEventKind) -> Option<(TurnOutcome, Option<QueueHold>)> {
    match event {
        TurnEventKind::TurnStarted { .. } => None,
        TurnEventKind::TurnComplete { status: TurnStatus::Completed, .. } => {
            Some((TurnOutcome::Completed, None))
        }
        TurnEventKind::TurnComplete { status: TurnStatus::Cancelled, .. } => {
            Some((TurnOutcome::Cancelled, Some(QueueHold::Stopped)))
        }
        TurnEventKind::TurnError { .. } => Some((TurnOutcome::Failed, Some(QueueHold::Failed))),
    }
}
