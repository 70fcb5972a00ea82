//! A session that somebody works on in another program: followed while a browser shows it, and compared with the
//! agent's own file before each message of ours.

use std::mem;
use std::time::Duration;

use liminal_agents::{Elsewhere, History};
use liminal_contract::ErrorCode;
use liminal_stream::{Payload, ResponseStatus, SessionFact};

use super::super::facts::Learnt;
use super::super::tie::Reason;
use super::{Done, SessionTask, UserMessage, WaitingRequest};
use crate::failure::Failure;

/// How often to look at a session that nobody works on, and at one that somebody does.
const QUIET: Duration = Duration::from_secs(1);
const ACTIVE: Duration = Duration::from_millis(40);

/// What the task does about other programs.
#[derive(Default)]
pub(super) struct Watching {
    look: Look,
    /// Messages that wait until the file was compared.
    comparing: Vec<UserMessage>,
}

#[derive(Default, PartialEq, Eq)]
enum Look {
    #[default]
    Never,
    Due(Duration),
    UnderWay,
}

impl Watching {
    pub(super) fn is_idle(&self) -> bool {
        self.comparing.is_empty() && self.look != Look::UnderWay
    }
}

impl SessionTask {
    /// When to look at the agent's file again: only while somebody sees the session and no process of ours has it.
    pub(super) fn next_look(&self) -> Option<Duration> {
        match self.under_way.watching.look {
            Look::UnderWay => None,
            Look::Due(at) if self.can_look() => Some(at),
            Look::Never if self.can_look() => Some(Duration::ZERO),
            Look::Due(_) | Look::Never => None,
        }
    }

    fn can_look(&self) -> bool {
        self.facts.mark.is_some()
            && self.recorder.has_followers()
            && self.tie.is_made()
            && !self.tie.has_history_under_way()
            && (self.turn.is_idle() || self.facts.shared.elsewhere)
            && !self.provider.is_alive(self.facts.id())
    }

    pub(super) fn look_if_due(&mut self) {
        if self.next_look().is_none_or(|at| at > self.clock.elapsed()) {
            return;
        }
        self.recorder.drop_departed_followers();
        if !self.recorder.has_followers() {
            return self.follow_no_more();
        }
        let Some(mark) = self.facts.mark.clone() else { return };
        self.under_way.watching.look = Look::UnderWay;
        let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
        let id = self.facts.id().clone();
        tokio::spawn(async move {
            let seen = provider.look_elsewhere(&id, &mark).await;
            let _task_ended = back.send(Done::Looked(seen));
        });
    }

    pub(super) fn looked_elsewhere(&mut self, seen: Elsewhere) {
        let pause = match seen {
            Elsewhere::Active => ACTIVE,
            Elsewhere::Quiet | Elsewhere::Grown => QUIET,
        };
        self.under_way.watching.look = Look::Due(self.clock.elapsed() + pause);
        if seen == Elsewhere::Grown && self.can_look() {
            self.follow_no_more();
            self.attach(Reason::History);
        }
    }

    /// A history that was read may end in a turn that goes on elsewhere.
    pub(super) fn join_turn_elsewhere(&mut self) {
        if self.facts.shared.elsewhere
            && self.turn.is_idle()
            && let Some(turn) = self.recorder.open_turn().cloned()
        {
            self.recorder.transcript_mut().begin_turn();
            self.turn.begin_by_agent(turn);
        }
    }

    /// Nobody sees the session any more, or it is read again. What comes next is read when it is opened.
    pub(super) fn follow_no_more(&mut self) {
        if !self.facts.shared.elsewhere {
            return;
        }
        if let Some(turn) = self.turn.id().cloned() {
            self.say_here(&turn, Payload::done(ResponseStatus::Completed));
        }
        self.learn_elsewhere(false);
    }

    /// At the start of the task: a server that ended suddenly could not take it back.
    pub(super) fn learn_elsewhere(&mut self, elsewhere: bool) {
        if let Learnt::Changed(change) = self.facts.learn(SessionFact::Elsewhere(elsewhere)) {
            self.facts_changed(change);
        }
    }

    pub(super) fn is_elsewhere(&self) -> Failure {
        let what = "Someone is working on this session in a terminal. Wait until it is quiet there, or continue in \
                    a copy.";
        Failure::new(ErrorCode::SessionElsewhere, what).about(self.facts.id().clone())
    }

    /// Sends a message once the agent's file was compared with what we know, if it could have grown.
    pub(super) fn send_after_comparing(&mut self, message: UserMessage) {
        if self.is_comparing() {
            return self.under_way.watching.comparing.push(message);
        }
        let may_have_grown = self.turn.is_idle() && !self.tie.has_history_under_way();
        let Some(mark) = self.facts.mark.clone().filter(|_| may_have_grown) else {
            return self.send_after_history(message);
        };
        self.under_way.watching.comparing.push(message);
        let (provider, back) = (self.provider.clone(), self.inbox.back.clone());
        let load = self.load_of(History::Known);
        tokio::spawn(async move {
            let has_grown = provider.has_grown(&load, &mark).await;
            let _task_ended = back.send(Done::Compared { has_grown });
        });
    }

    /// Whether a message waits for that.
    pub(super) fn is_comparing(&self) -> bool {
        !self.under_way.watching.comparing.is_empty()
    }

    pub(super) fn compared(&mut self, has_grown: bool) {
        if has_grown && self.turn.is_idle() && !self.tie.has_history_under_way() {
            self.attach(Reason::History);
        }
        for message in mem::take(&mut self.under_way.watching.comparing) {
            self.send_after_history(message);
        }
    }

    /// The message comes after all of the history.
    fn send_after_history(&mut self, message: UserMessage) {
        let waits = self.tie.wait(WaitingRequest::Send(message));
        if let Err(WaitingRequest::Send(message)) = waits {
            self.send(message);
        }
    }
}
