//! Starting and stopping the process of a session.

use std::sync::Arc;
use std::time::Duration;

use liminal_contract::{AgentStatus, NoticeAction, Severity};
use liminal_stream::Notice;
use serde_json::json;

use super::{Life, Session, now};
use crate::ProviderError;
use crate::claude::start::{self, Conversation, Initialized, Settings};
use crate::claude::trust;
use crate::claude::wire::Line;
use crate::process::{Budget, Lines, Noise, Process, ReadError, Stop};

/// How long to wait, each time, for the agent to write its file: 2.5 s in all.
pub(super) const WAITS_FOR_FILE: [Duration; 8] = [
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(300),
    Duration::from_millis(500),
    Duration::from_millis(600),
    Duration::from_millis(800),
];

/// How long things may take.
#[derive(Debug, Clone)]
pub(in crate::claude) struct Patience {
    /// From spawn to the answer to `initialize`.
    pub(in crate::claude) start: Duration,
    /// Without a turn, until the process is stopped.
    pub(in crate::claude) idle: Duration,
    /// From an interrupt to the end of the turn.
    pub(in crate::claude) interrupt: Duration,
}

impl Session {
    /// Makes sure that there is a process that takes messages.
    pub(in crate::claude) async fn ensure_running(self: &Arc<Self>) -> Result<(), ProviderError> {
        let _only_one = self.changing.lock().await;
        let status = {
            let state = self.lock();
            match &state.life {
                Life::Running { process, .. } if process.is_alive() => return Ok(()),
                // Its reader will tell in a moment; the message must not go to it.
                Life::Running { process, .. } => return Err(self.lost(process.stderr().text())),
                Life::Killed => return Err(self.lost(String::new())),
                Life::Resting => AgentStatus::Starting,
                Life::Crashed => AgentStatus::Reconnecting,
            }
        };
        self.start(status).await
    }

    /// Starts it because the user asked, whatever became of the last.
    pub(in crate::claude) async fn reconnect(self: &Arc<Self>) -> Result<(), ProviderError> {
        let _only_one = self.changing.lock().await;
        if self.is_alive() {
            return Ok(());
        }
        self.start(AgentStatus::Reconnecting).await
    }

    async fn start(self: &Arc<Self>, status: AgentStatus) -> Result<(), ProviderError> {
        self.shared.status(&self.id, status);
        let started = self.try_start().await;
        match &started {
            Ok(()) => self.shared.status(&self.id, AgentStatus::Connected),
            Err(error) => {
                self.shared.status_with(&self.id, AgentStatus::Disconnected, error.details());
            }
        }
        started
    }

    async fn try_start(self: &Arc<Self>) -> Result<(), ProviderError> {
        let name = self.shared.name();
        let agent_ref = self.agent_ref();
        let known = self.shared.files.find(&agent_ref).is_some();
        let conversation =
            if known { Conversation::Resumed(&agent_ref) } else { Conversation::New(&agent_ref) };
        let trusted = self.shared.trust.is_confirmed(&self.project)
            || trust::brings(&self.project).is_empty();
        let settings = if trusted { Settings::All } else { Settings::User };
        let launch = start::launch(&self.shared.entry, &self.project, settings, &conversation);
        let started = launch.spawn(&self.shared.guard).await?;

        let process = started.process.clone();
        let (generation, answered) = {
            let mut state = self.lock();
            state.generation += 1;
            state.refusal.clear();
            state.ready = false;
            state.normaliser.attach((!known).then_some(0.0));
            state.life = Life::Running { process: process.clone(), stdin: started.stdin };
            (state.generation, state.request(&json!({"subtype": "initialize"})))
        };
        let lines = started.stdout.lines(Budget::default());
        let reader = tokio::spawn(read(Arc::clone(self), generation, lines, process.clone()));

        let answer = async {
            match answered {
                Some(answered) => answered.await.ok(),
                None => None,
            }
        };
        let refused = match tokio::time::timeout(self.shared.patience.start, answer).await {
            Ok(Some(response)) if response.subtype == "success" => {
                let said = Initialized::read(&response.response);
                if said.is_logged_out() {
                    start::logged_out(&name)
                } else {
                    let mut state = self.lock();
                    state.ready = true;
                    let said = state.normaliser.initialized(said.commands);
                    state.say(said, None);
                    drop(state);
                    tokio::spawn(stop_when_idle(Arc::clone(self), generation, process));
                    return Ok(());
                }
            }
            Ok(Some(response)) => ProviderError::SessionRefused {
                words: response.error.unwrap_or_default(),
                stderr_tail: process.stderr().text(),
            },
            Ok(None) => {
                let exit = process.exited().await;
                let tail = process.last_words().await;
                let errors = self.lock().refusal.clone();
                start::ended_at_start(&name, exit, &errors, tail)
            }
            Err(_too_late) => ProviderError::NotConnected {
                name: name.clone(),
                reason: format!("It did not answer in {:?}.", self.shared.patience.start),
                stderr_tail: process.stderr().text(),
            },
        };
        self.forget_process(Life::Crashed);
        reader.abort();
        process.stop(Stop::Kill).await;
        Err(refused)
    }

    /// The process no longer counts: nothing it still says is heard.
    fn forget_process(&self, life: Life) -> Option<Process> {
        let mut state = self.lock();
        state.generation += 1;
        state.pending.clear();
        match std::mem::replace(&mut state.life, life) {
            Life::Running { process, .. } => Some(process),
            Life::Resting | Life::Crashed | Life::Killed => None,
        }
    }

    /// The agent did not stop when it was told to: ends it, and starts it again where it was.
    pub(super) async fn restart_after_silence(self: &Arc<Self>) {
        let _only_one = self.changing.lock().await;
        let notice = Notice {
            severity: Severity::Warning,
            text: format!(
                "{} did not stop in time, so it was ended and started again. It remembers the conversation, but not what it was doing.",
                self.shared.name()
            ),
            actions: vec![NoticeAction::Retry],
            details: None,
        };
        {
            let mut state = self.lock();
            let said = state.normaliser.give_up(Some(notice), now());
            state.say(said, None);
        }
        self.ended.send_modify(|count| *count += 1);
        if let Some(process) = self.forget_process(Life::Crashed) {
            process.stop(Stop::Kill).await;
        }
        // When it does not start, the status says so, and the next message tries again.
        let _told_by_status = self.start(AgentStatus::Reconnecting).await;
    }

    /// Lets the next message start a process with the settings as they are then.
    pub(super) async fn reload_when_idle(self: &Arc<Self>) {
        let _only_one = self.changing.lock().await;
        if self.lock().normaliser.is_idle() {
            self.rest().await;
        }
    }

    /// Stops the process on purpose; the next message resumes.
    async fn rest(&self) {
        if let Some(process) = self.forget_process(Life::Resting) {
            process.stop(Stop::Gently).await;
            self.shared.status(&self.id, AgentStatus::Idle);
            self.mark_history().await;
        }
    }

    /// Ends the session with the agent.
    pub(in crate::claude) async fn kill(&self, how: Stop) {
        {
            let mut state = self.lock();
            let _seen_by_the_exit = state.request(&json!({"subtype": "interrupt"}));
            let said = state.normaliser.give_up(None, now());
            state.say(said, None);
        }
        self.ended.send_modify(|count| *count += 1);
        if let Some(process) = self.forget_process(Life::Killed) {
            process.stop(how).await;
            self.shared.status(&self.id, AgentStatus::Idle);
            // The file is as it will stay: what comes behind this is not ours.
            self.mark_history().await;
        }
    }
}

/// Reads the agent until it says no more, then tells how it ended.
async fn read(session: Arc<Session>, generation: u64, mut lines: Lines, process: Process) {
    let mut noise = Noise::new(session.shared.name());
    loop {
        match lines.next().await {
            Ok(Some(line)) => match Line::parse(&line.bytes) {
                Ok(parsed) => {
                    if !session.line(generation, parsed, line.charge) {
                        return;
                    }
                }
                Err(error) => noise.skipped(&line.bytes, &error.to_string()),
            },
            Ok(None) => break,
            Err(error @ (ReadError::TooLong | ReadError::Io(_))) => {
                tracing::warn!(%error, "Claude Code broke its protocol");
                process.stop(Stop::Kill).await;
                break;
            }
        }
    }
    let exit = process.exited().await;
    let tail = process.last_words().await;
    session.gone(generation, exit, tail);
}

/// Stops the process when nothing was said or asked for long enough and nothing is left undone.
async fn stop_when_idle(session: Arc<Session>, generation: u64, process: Process) {
    loop {
        tokio::select! {
            _exit = process.exited() => return,
            () = session.active.notified() => continue,
            () = tokio::time::sleep(session.shared.patience.idle) => {}
        }
        let _only_one = session.changing.lock().await;
        let idle = {
            let state = session.lock();
            if state.generation != generation {
                return;
            }
            state.normaliser.is_idle() && state.sending.is_none()
        };
        if idle {
            return session.rest().await;
        }
    }
}
