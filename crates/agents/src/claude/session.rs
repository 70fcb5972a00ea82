//! One session with Claude Code: the shared conversation logic, the question about the project's settings, and the
//! mark in the agent's history file. The keeper owns the session's process, which no other session uses.

mod beside;
mod voice;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use liminal_contract::{
    AgentStatus, Answer, ItemId, OptionValue, OutcomeBy, SessionId, SessionOption, TurnId,
};
use liminal_stream::{AgentError, HistoryMark, SessionFact};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use self::beside::Beside;
pub(super) use self::voice::ClaudeVoice;
use super::connect::{Link, Starter};
use super::elsewhere::Watch;
use super::history::{Reader, SessionFiles};
use super::normalise::Normaliser;
use super::options::Options;
use super::trust::{self, Trust};
use super::wire::Line;
use crate::catalogue::AgentEntry;
use crate::conversation::{Conversation, Heard, LineKind, Link as _, NotSet, SetOption};
use crate::lifecycle::{Keeper, Timing};
use crate::process::{GuardCommand, Stop};
use crate::{AgentPrompt, Charge, Fork, Metered, Output, ProviderError, StatusChange};

/// Pauses between looks at the agent's file, about 2.5 s in total: nothing reports when it has been written. Its last
/// record decides whether it is complete, not the time.
const WAITS_FOR_FILE: [Duration; 8] = [
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(300),
    Duration::from_millis(500),
    Duration::from_millis(600),
    Duration::from_millis(800),
];

/// How long Claude Code may take to report its settings.
const SETTINGS: Duration = Duration::from_secs(10);

/// Shared by all sessions of the provider.
pub(super) struct Shared {
    pub entry: AgentEntry,
    pub guard: GuardCommand,
    pub statuses: mpsc::UnboundedSender<StatusChange>,
    pub timing: Timing,
    /// From an interrupt to the end of the turn.
    pub interrupt: Duration,
    pub trust: Arc<dyn Trust>,
    pub files: SessionFiles,
}

pub(super) struct Session {
    pub id: SessionId,
    pub project: PathBuf,
    pub shared: Arc<Shared>,
    /// What it was made from.
    pub fork: Option<Fork>,
    /// While it has no process: what other programs do with its file.
    pub watch: Arc<Mutex<Option<Watch>>>,
    pub talk: Conversation<ClaudeVoice>,
    beside: Beside,
}

impl Session {
    /// Starts nothing yet. `options` are the last known ones, and more that the user chose.
    pub fn new(
        shared: Arc<Shared>,
        id: SessionId,
        agent_ref: String,
        project: PathBuf,
        fork: Option<Fork>,
        output: mpsc::UnboundedSender<Metered>,
        options: (Vec<SessionOption>, Vec<(String, OptionValue)>),
    ) -> Arc<Self> {
        let mint = || TurnId::new(uuid::Uuid::now_v7().to_string());
        let normaliser =
            Normaliser::new(id.clone(), agent_ref, project.clone(), None, Box::new(mint));
        Arc::new_cyclic(|session: &Weak<Self>| {
            let name = &shared.entry.name;
            let starter = Arc::new(Starter { session: session.clone() });
            let about = (id.cli_type().clone(), Some(id.clone()));
            let (timing, statuses) = (shared.timing.clone(), shared.statuses.clone());
            let keeper = Keeper::new(about, name, timing, starter, statuses);
            let voice = ClaudeVoice::new(name, normaliser);
            let talk = Conversation::new(name, keeper, voice, output);
            let talk = talk.with_options(options.0, options.1);
            let (watch, beside) = (Arc::default(), Beside::default());
            Self { id, project, shared, fork, watch, talk, beside }
        })
    }

    /// The agent's current id of the session.
    pub fn agent_ref(&self) -> String {
        self.talk.with(|voice| voice.normaliser.agent_ref().to_owned())
    }

    /// Sends the agent the user's message, after starting a process if there is none.
    pub async fn send(&self, turn: &TurnId, prompt: &AgentPrompt) -> Result<(), ProviderError> {
        let sending = self.talk.reserve()?;
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.talk.link().await?;
        sending.prompt(turn, prompt)
    }

    /// Takes the user's answer to a question from the agent, or from us.
    pub fn answer(
        &self,
        item: &ItemId,
        answer: &Answer,
        by: OutcomeBy,
    ) -> Result<(), ProviderError> {
        let mut about_trust = false;
        self.talk.say(None, |step| {
            let settled = step.voice.answer_about_trust(item, answer, by, step.at);
            about_trust = settled.is_some();
            settled.unwrap_or_default()
        });
        if !about_trust {
            return self.talk.answer(item, answer, by);
        }
        if answer.option_id.as_deref() == Some(trust::CONFIRM) {
            self.shared.trust.confirm(&self.project);
            // The next message starts a process that loads the settings.
            self.talk.keeper().rest();
        }
        Ok(())
    }

    /// Asks whether to load the project's own settings, if it has any.
    pub fn ask_for_trust(&self) {
        let brings = trust::brings(&self.project);
        if !brings.is_empty() && !self.shared.trust.is_confirmed(&self.project) {
            self.talk.say(None, |step| step.voice.ask_for_trust(&brings, step.at));
        }
    }

    /// What the agent really uses, as `get_settings` reports it. `None` if it can't.
    pub async fn settings(&self) -> Option<Value> {
        let asked = self.talk.with(|voice| voice.request(&json!({"subtype": "get_settings"})));
        let answer = timeout(SETTINGS, asked).await.ok()?.ok()?;
        (answer.subtype == "success").then_some(answer.response)
    }

    /// Restarts at the user's request. Ends a running process first, even one that hangs.
    pub async fn reconnect(&self) -> Result<(), ProviderError> {
        self.talk.keeper().reconnect().await.map(drop)
    }

    pub fn is_disconnected(&self) -> bool {
        self.talk.keeper().status() == AgentStatus::Disconnected
    }

    /// Ends the session with the agent.
    pub async fn kill(&self, how: Stop) {
        self.talk.with(ClaudeVoice::interrupt);
        self.talk.release();
        self.talk.keeper().end(how).await;
        // The file is final: anything added after this is not ours.
        self.mark_history(&[]).await;
        self.talk.close();
    }

    pub fn line(&self, link: &Link, line: Line, charge: Charge) {
        let read =
            |step: crate::conversation::Step<'_, ClaudeVoice>| step.voice.read(line, step.at);
        let heard = self.talk.hear(link.generation(), LineKind::Fact, Some(charge), read);
        if heard == Heard::Ended {
            tokio::spawn(self.mark_history(&WAITS_FOR_FILE));
        }
    }

    /// A process that was ready ended; `stopped` if we stopped it.
    pub fn gone(&self, link: &Link, stopped: bool, error: AgentError) {
        if !(stopped && self.talk.rests(link.generation())) {
            self.talk.left(link.generation(), error);
        }
        tokio::spawn(self.mark_history(&[]));
    }

    /// The end of the agent's own file, once it holds the last line: looks again as long as the agent may still write.
    pub async fn written_to(&self) -> Option<HistoryMark> {
        self.history_end(&WAITS_FOR_FILE).await
    }

    /// Reports where the agent's own file ends, once it holds the last line. The agent writes the file a moment after
    /// its output, hence `waits`; empty when the process has ended and the file is final.
    fn mark_history(
        &self,
        waits: &'static [Duration],
    ) -> impl Future<Output = ()> + Send + 'static + use<> {
        let (output, end) = (self.talk.listener(), self.history_end(waits));
        async move {
            if let (Some(mark), Some(output)) = (end.await, output) {
                let fact = Output::Fact(SessionFact::HistoryMark(mark));
                let _session_closed = output.send(Metered { output: fact, charge: None });
            }
        }
    }

    fn history_end(
        &self,
        waits: &'static [Duration],
    ) -> impl Future<Output = Option<HistoryMark>> + Send + 'static + use<> {
        let (agent_ref, last) = self.talk.with(|voice| {
            let last = voice.normaliser.last_record().map(str::to_owned);
            (voice.normaliser.agent_ref().to_owned(), last)
        });
        let files = self.shared.files.clone();
        let (session, project) = (self.id.clone(), self.project.clone());
        let look = move || {
            let (files, agent_ref) = (files.clone(), agent_ref.clone());
            let (session, project) = (session.clone(), project.clone());
            tokio::task::spawn_blocking(move || {
                let path = files.find(&agent_ref)?;
                Reader { session, project, path }.mark().ok()?
            })
        };
        async move {
            for wait in waits.iter().map(Some).chain([None]) {
                if let Ok(Some(mark)) = look().await
                    && last.as_ref().is_none_or(|last| *last == mark.last_id)
                {
                    return Some(mark);
                }
                tokio::time::sleep(*wait?).await;
            }
            None
        }
    }
}

#[async_trait]
impl SetOption for Session {
    async fn set_option(&self, id: &str, value: &OptionValue) -> Result<(), NotSet> {
        let Some(request) = Options::request(id, value) else {
            return Err(NotSet::Refused("There is no such option.".to_owned()));
        };
        let asked = self.talk.with(|voice| voice.request(&request));
        let answer = asked.await.map_err(|_closed| NotSet::Closed)?;
        if answer.subtype != "success" {
            return Err(NotSet::Refused(answer.error.unwrap_or_default()));
        }
        // It accepts any model, and ignores an effort that it doesn't know.
        let settings = self.settings().await;
        let mut is_set = false;
        self.talk.say(None, |step| {
            let normaliser = &mut step.voice.normaliser;
            let outputs = normaliser.option_set(id, value, settings.as_ref());
            let list = normaliser.options.list();
            is_set = list.iter().any(|option| option.id == id && option.value == *value);
            outputs
        });
        if is_set { Ok(()) } else { Err(NotSet::Refused("It kept another value.".to_owned())) }
    }
}
