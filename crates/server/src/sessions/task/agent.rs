//! The task's calls to the agent. Each takes time, so each runs in another task and comes back as `Done`.

use std::mem;

use liminal_agents::{History, LoadSession, Metered, NewSession, ProviderError, ProviderSession};
use liminal_contract::{Details, NoticeAction, OutcomeBy, SessionId, Severity, TurnId, TurnOrigin};
use liminal_stream::Source;

use super::super::attaching;
use super::super::export;
use super::super::session::Reply;
use super::super::tie::{Lost, Reason};
use super::super::turn::{Due, Stop, TurnState};
use super::{Done, SessionTask};
use crate::failure::Failure;
use crate::store::SessionRecord;

impl SessionTask {
    /// Attaches the session to its agent, unless that is already in progress.
    pub(super) fn attach(&mut self, reason: Reason) {
        let Some(history) = self.tie.make(reason, self.facts.mark.as_ref()) else { return };
        let mut load = self.load_of(history);
        let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
        let (journal, id) = (self.around.journal.clone(), self.facts.id().clone());
        tokio::spawn(async move {
            if let History::After { known, .. } = &mut load.history {
                // A turn that a crash cut short is after the mark, and must not be added a second time.
                match journal.read(move |reader| reader.turn_ids(&id)).await {
                    Ok(turns) => *known = turns,
                    Err(error) => {
                        tracing::warn!(%error, "messages from outside are not read");
                        load.history = History::Known;
                    }
                }
            }
            let result = provider.load_session(load).await;
            let _task_ended = back.send(Done::Attached(result));
        });
    }

    pub(super) fn load_of(&self, history: History) -> LoadSession {
        LoadSession {
            session_id: self.facts.id().clone(),
            agent_ref: self.facts.agent_ref(),
            project_dir: self.around.directory(&self.facts.record),
            history,
            options: self.facts.shared.options.clone(),
            fork: self.facts.record.branch.as_ref().and_then(|branch| branch.fork.clone()),
        }
    }

    /// Attaches the session, and answers when its agent runs.
    pub(super) fn keep_open(&mut self, reply: Reply<()>) {
        if self.tie.is_made() {
            self.start_agent(reply);
        } else {
            self.under_way.loading.push(reply);
            self.attach(Reason::Message);
        }
    }

    /// An agent with a process per session starts it only when it is needed.
    fn start_agent(&self, reply: Reply<()>) {
        let (provider, id) = (self.provider.clone(), self.facts.id().clone());
        tokio::spawn(async move {
            let started =
                if provider.is_alive(&id) { Ok(()) } else { provider.reconnect(Some(&id)).await };
            let _asker_left = reply.send(started.map_err(|error| Failure::from(error).about(id)));
        });
    }

    /// The agent lost the session, or never saved it: it continues under our id with a new id of the agent's.
    fn make_again(&mut self) {
        self.tie.make_again();
        let new = NewSession {
            project_dir: self.around.directory(&self.facts.record),
            session_id: Some(self.facts.id().clone()),
            chosen: self.facts.chosen(),
            wanted: Vec::new(),
            fork: None,
        };
        let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
        tokio::spawn(async move {
            let result = provider.create_session(new).await;
            let _task_ended = back.send(Done::Attached(result));
        });
    }

    /// Keeps the agent's new id, and adds a notice if there are messages that the agent can't see.
    fn made_again(&mut self, agent_ref: String) {
        self.facts.mark = None;
        self.facts.record.agent_ref = Some(agent_ref.clone());
        self.keep_agent_ref(agent_ref);
        if let Some(turn) = self.turn.id().cloned()
            && self.recorder.transcript().holds_more_than_one()
        {
            let text = "The agent lost this session and can't see the messages above.";
            self.note(&turn, Severity::Warning, text.to_owned(), Vec::new());
        }
    }

    pub(super) fn keep_agent_ref(&self, agent_ref: String) {
        if let Ok(id) = SessionId::new(&self.facts.record.cli_type, &agent_ref) {
            self.around.refs.add_later(id);
        }
        let kept = move |record: &mut SessionRecord| record.agent_ref = Some(agent_ref);
        self.around.sessions.update_later(self.facts.id().clone(), kept, |_record| {});
    }

    pub(super) fn attached(&mut self, result: Result<ProviderSession, ProviderError>) {
        match result {
            Err(ProviderError::SessionUnknown { .. })
                if self.tie.being_made_for() == Some(Reason::Message)
                    && self.turn.ungiven().is_some() =>
            {
                self.make_again();
            }
            Ok(session) => {
                if self.tie.made(session.output) == Some(Reason::Again) {
                    self.made_again(session.agent_ref);
                }
                self.tell_kept_options();
                for reply in mem::take(&mut self.under_way.loading) {
                    self.start_agent(reply);
                }
                self.deliver_prompt();
            }
            Err(error) => {
                let waiting = self.tie.refused();
                let failure = self.failure(&error);
                for reply in mem::take(&mut self.under_way.loading) {
                    let _asker_left = reply.send(Err(failure.clone()));
                }
                self.show_waiting(waiting, &Err(failure));
                if let Some(turn) = self.turn.ungiven().cloned() {
                    self.fail_turn(&turn, &error);
                }
            }
        }
    }

    /// Sends the user's message to the agent, once it is on disk.
    pub(super) fn deliver_prompt(&mut self) {
        match self.turn.due() {
            Due::Nothing => {}
            Due::Cancel(turn) => self.end_turn_as_cancelled(&turn),
            Due::Deliver if !self.under_way.options.are_set() => {}
            Due::Deliver if !self.tie.is_made() => self.attach(Reason::Message),
            Due::Deliver if self.facts.is_being_set_up() => {}
            Due::Deliver if self.under_way.checkpoints.hold_the_prompt() => {}
            Due::Deliver => {
                let Some((turn, prompt)) = self.turn.give() else { return };
                let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
                let id = self.facts.id().clone();
                let store = self.around.attachments.clone();
                let workspace = self.around.directory(&self.facts.record);
                self.under_way.transcript = self.owes_transcript(&prompt);
                let owed = self.under_way.transcript.then(|| self.around.journal.clone());
                tokio::spawn(async move {
                    let mut prompt = attaching::loaded(store, workspace, prompt).await;
                    if let Some(journal) = owed {
                        prompt.attached.insert(0, export::so_far(journal, &id, &turn).await);
                    }
                    let result = provider.send_message(&id, &turn, &prompt).await;
                    let _task_ended = back.send(Done::Sent { turn, result });
                });
            }
        }
    }

    pub(super) fn sent(&mut self, turn: &TurnId, result: Result<(), ProviderError>) {
        match result {
            Ok(()) => {
                self.run_turn(turn);
                self.transcript_given(turn);
                self.give_handed();
                self.listen();
            }
            Err(error) => self.fail_turn(turn, &error),
        }
    }

    /// The agent works on the turn. If the user asked to stop in the meantime, the agent gets the stop now.
    pub(super) fn run_turn(&mut self, turn: &TurnId) {
        match self.turn.run(turn) {
            Stop::TellAgent => self.tell_agent_to_stop(None),
            Stop::Nothing => {}
        }
    }

    pub(super) fn tell_agent_to_stop(&self, reply: Option<Reply<()>>) {
        let Some(turn) = self.turn.id().cloned() else { return };
        let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
        let id = self.facts.id().clone();
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
                // The stop did not reach the agent. For the user the turn is over; its later output is not shown.
                let actions = vec![NoticeAction::Restart];
                self.note(turn, Severity::Warning, failure.message.clone(), actions);
                self.end_turn_as_cancelled(turn);
            }
            failure
        });
        if let Some(reply) = reply {
            self.reply_when_saved(reply, answer);
        }
    }

    pub(super) fn kill(&self, reply: Reply<()>) {
        let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
        let id = self.facts.id().clone();
        tokio::spawn(async move {
            let result = provider.kill_session(&id).await;
            let _task_ended = back.send(Done::Killed { result, reply });
        });
    }

    pub(super) fn killed(&mut self, result: Result<(), ProviderError>, reply: Reply<()>) {
        if let Some(mut output) = self.tie.cut() {
            // The agent may have ended its turn before it was killed.
            let rest = std::iter::from_fn(|| output.try_recv().ok());
            rest.for_each(|output: Metered| self.apply(output));
        }
        if let Some(turn) = self.turn.id().cloned() {
            self.end_turn_as_cancelled(&turn);
        }
        self.return_all();
        self.detach();
        self.end_setup();
        self.close_permissions(OutcomeBy::AgentLeft, |_, _| true);
        let answer = result.map_err(|error| self.failure(&error));
        self.reply_when_saved(reply, answer);
    }

    /// Decides whether output is expected from now on, and watches for silence accordingly.
    pub(super) fn listen(&mut self) {
        // An agent may pause as long as it likes in a turn that it started itself.
        let expected = match &self.turn {
            TurnState::Running { id } => {
                self.recorder.origin(id) == Some(TurnOrigin::User)
                    && !self.recorder.transcript().has_open_call()
                    && !self.recorder.transcript().has_open_ask()
            }
            _ => false,
        };
        let now = self.clock.elapsed();
        let note =
            if expected { self.intake.silence.spoke(now) } else { self.intake.silence.rest() };
        if let Some(note) = note {
            let settled = self.settled(note);
            self.put(settled);
        }
    }

    /// The final form of a silence notice, once there is output again or none is expected.
    pub(super) fn settled(&self, mut note: liminal_stream::Upsert) -> liminal_stream::Upsert {
        note.status = liminal_contract::ItemStatus::Complete;
        note.emitted_at = self.clock.now().wall;
        if let Source::Notice(notice) = &mut note.source {
            "The agent was quiet for a while.".clone_into(&mut notice.text);
            notice.actions.clear();
        }
        note
    }

    pub(super) fn failure(&self, error: &ProviderError) -> Failure {
        Failure::from(error.clone()).about(self.facts.id().clone())
    }

    pub(super) fn agent_left(&mut self, details: &Details) {
        tracing::info!(session = %self.facts.id(), ?details.hint, "the agent ended");
        self.return_all();
        self.detach();
    }

    /// The agent sends nothing more. A history that it was sending ends here, and so does a turn.
    pub(super) fn detach(&mut self) {
        match self.tie.lost() {
            Lost::EndHistory => self.end_history(),
            Lost::Nothing => {}
        }
        // Nobody is left who could end the turn.
        if let Some(turn) = self.turn.given().cloned() {
            let (name, stderr_tail) = ("the agent".to_owned(), String::new());
            self.fail_turn(&turn, &ProviderError::ProcessEnded { name, stderr_tail });
        }
    }
}
