//! One session with an ACP agent: the conversation that all sessions have, and what ACP adds to it.

mod shown;
mod voice;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::RequestId;
use async_trait::async_trait;
use liminal_contract::{
    AuthMethod, OptionValue, OutcomeBy, SessionId, SessionOption, Steers, TurnId,
};
use liminal_stream::SessionFact;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

pub(crate) use self::voice::AcpVoice;
use super::agent::AcpAgent;
use super::connection::Connection;
use super::envelope::RpcError;
use super::link::{Link, NoAnswer, Waiter};
use super::normalise::{Normaliser, TurnEnd, WrittenFile, cut, is_idle};
use super::permissions::Wanted;
use super::turn_end;
use crate::conversation::{Closed, Conversation, Heard, LineKind, NotSet, SetOption, now};
use crate::lifecycle::Keeper;
use crate::{Charge, Metered, Output};

const STOPPED: TurnEnd = TurnEnd::Stopped { reason: None, usage: None };

#[derive(Debug)]
pub(crate) struct Session {
    pub id: SessionId,
    /// The agent's own id of the session.
    pub agent_ref: String,
    /// Canonical and absolute.
    pub project_dir: PathBuf,
    /// Held until the session is resumed and its history complete, so that only one caller does this at a time, and
    /// before any prompt.
    pub attaching: Arc<tokio::sync::Mutex<()>>,
    pub talk: Conversation<AcpVoice>,
}

impl Session {
    /// Not attached yet. `options` are the last known ones, and more that the user chose.
    pub fn new(
        id: SessionId,
        agent_ref: String,
        project_dir: PathBuf,
        agent: &AcpAgent,
        keeper: Keeper<Link>,
        options: (Vec<SessionOption>, Vec<(String, OptionValue)>),
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Metered>) {
        let mint = || TurnId::new(uuid::Uuid::now_v7().to_string());
        let mut normaliser = Normaliser::new(id.clone(), id.cli_type().as_str(), mint);
        normaliser.reported.ask_mode = agent.ask_mode.clone();
        normaliser.secrets = agent.mcp.secrets().clone();
        let voice = AcpVoice::new(agent_ref.clone(), normaliser);
        let (output, told) = mpsc::unbounded_channel();
        let talk = Conversation::new(&agent.name, keeper, voice, output);
        let talk = talk.with_options(options.0, options.1);
        (Arc::new(Self { id, agent_ref, project_dir, attaching: Arc::default(), talk }), told)
    }

    /// The agent knows this session from here on; with `history` it may replay that first.
    pub fn attach(&self, link: &Link, history: Option<HistoryWanted>) {
        self.talk.attach(link.generation, history.is_some(), |voice| {
            voice.attached(Arc::clone(&link.connection), link.offers().takes);
            if let Some(wanted) = history {
                voice.normaliser.begin_history(wanted == HistoryWanted::Yes);
            }
        });
    }

    /// The agent refused to resume it.
    pub fn detach(&self, link: &Link) {
        self.talk.with(|voice| {
            let _half_a_history = voice.normaliser.end_history(now());
        });
        self.talk.detach(link.generation);
    }

    /// When the last part of a conversation arrived, or the session was attached.
    pub fn heard(&self) -> Instant {
        self.talk.with(|voice| voice.heard)
    }

    /// Reads the facts in the agent's answer to `session/new`, `load` or `resume`.
    pub fn facts_at_start(&self, link: &Link, answer: &Value) {
        let steers = if link.offers().steering { Steers::AtOnce } else { Steers::Stop };
        self.talk.say(None, |step| {
            let pictures = SessionFact::TakesPictures(step.voice.takes.pictures);
            let mut outputs = step.voice.normaliser.facts_at_start(answer);
            outputs.extend([Output::Fact(pictures), Output::Fact(SessionFact::Steers(steers))]);
            outputs.extend(link.about().into_iter().map(Output::Fact));
            outputs
        });
    }

    /// Reports the agent's version, account and MCP servers.
    pub fn say_about(&self, link: &Link) {
        let about = link.about().into_iter().map(Output::Fact).collect();
        let _nobody_watches = self.talk.hear(link.generation, LineKind::Fact, None, |_| about);
    }

    /// The history is complete.
    pub fn history_complete(&self, tell: HistoryWanted) {
        self.talk.remembered(|voice, at| {
            let mut outputs = voice.normaliser.end_history(at);
            if tell == HistoryWanted::Yes {
                outputs.push(Output::HistoryTold);
            }
            outputs
        });
    }

    /// Switches to the mode in which the agent asks before acting, then to what the user chose.
    pub async fn set_options(&self) {
        let ask_mode = self.talk.with(|voice| voice.normaliser.reported.ask_mode_to_set());
        if let Some((id, wanted)) = ask_mode
            && let Err(error) = self.talk.set_now(&id, &wanted, self).await
        {
            tracing::warn!(session = %self.id, %error, "The agent refused to change its mode");
            self.talk.say(None, |step| step.voice.normaliser.report_options());
        }
        self.talk.restore_options(self).await;
    }

    /// The agent accepted the value of an option.
    pub fn option_set(&self, link: &Link, id: &str, value: &OptionValue, answer: &Value) {
        let _nobody_watches = self.talk.hear(link.generation, LineKind::Fact, None, |step| {
            step.voice.normaliser.option_set(id, value, answer)
        });
    }

    /// Handles a `session/update`.
    pub fn update(&self, link: &Link, raw: &RawValue, charge: Option<Charge>) -> Heard {
        let conversation = Normaliser::is_conversation(raw);
        let told = if conversation { LineKind::Conversation } else { LineKind::Fact };
        self.talk.hear(link.generation, told, charge, |step| {
            if conversation {
                step.voice.heard = Instant::now();
            }
            let mut outputs = step.voice.normaliser.update(raw, step.at);
            step.voice.show_terminals(step.at, &mut outputs);
            if step.turns.is_own() && is_idle(raw) {
                outputs.extend(step.voice.normaliser.end_turn(STOPPED, step.at));
            }
            outputs
        })
    }

    /// The agent answered a prompt, which ends its turn.
    pub fn answered(
        &self,
        link: &Link,
        turn: &TurnId,
        answer: Result<Value, RpcError>,
        methods: &[AuthMethod],
        charge: Option<Charge>,
    ) {
        // The turn's message has the agent's words.
        let login = || link.shared.agent.auth_required("", methods).details();
        let _nobody_watches = self.talk.hear(link.generation, LineKind::Fact, charge, |step| {
            if step.turns.running() != Some(turn) {
                return Vec::new();
            }
            let cancelled = step.turns.stopping() == Some(turn);
            let end = match answer {
                Ok(answer) => turn_end::of_answer(&answer, cancelled),
                Err(error) => turn_end::of_error(&error, cancelled, login),
            };
            step.voice.end_turn(end, OutcomeBy::Cancel, step.at)
        });
        self.talk.undeafen(turn);
    }

    /// The agent answered whether it took up a message that it was handed.
    pub fn steered(&self, link: &Link, message: &str, content: String, is_taken: bool) {
        let _nobody_watches = self.talk.hear(link.generation, LineKind::Fact, None, |step| {
            step.voice.steered(message, content, is_taken, step.at)
        });
    }

    /// Handles a permission request or a form. It stays open until answered, but is refused at once while the turn is
    /// being stopped.
    pub fn ask(
        &self,
        link: &Link,
        request: &RequestId,
        what: Asked,
        raw: &RawValue,
        mut charge: Option<Charge>,
    ) -> Heard {
        let refuse = |connection: &Connection<Waiter>, charge: &mut Option<Charge>| {
            let _gone_anyway = connection.answer(request, Ok(what.cancelled()), charge.take());
        };
        if self.talk.generation() != Some(link.generation) {
            refuse(&link.connection, &mut charge);
            return Heard::Stranger;
        }
        self.talk.hear(link.generation, LineKind::Fact, charge, |step| {
            let turns = step.turns;
            if turns.is_deaf() || turns.is_remembering() || turns.stopping().is_some() {
                refuse(&link.connection, step.charge);
                return Vec::new();
            }
            let asked = step.voice.ask(request, what, raw, step.at);
            asked.unwrap_or_else(|error| {
                let (session, raw) = (&self.id, cut(raw.get()));
                tracing::warn!(%session, ?what, %error, ?raw, "Refused an invalid request");
                let words = error.to_string();
                let error = RpcError::new(RpcError::INVALID_PARAMS, words.clone());
                let connection = &link.connection;
                let _gone_anyway = connection.answer::<()>(request, Err(error), step.charge.take());
                step.voice.refused(what, &words, step.at)
            })
        })
    }

    /// The agent wrote a file through us.
    pub fn wrote(&self, change: WrittenFile) {
        self.talk.say(None, |step| step.voice.normaliser.wrote(change, step.at));
    }

    /// The agent withdraws a permission. Returns whether it was one of this session's.
    pub fn withdraw(&self, request: &RequestId) -> bool {
        let mut ours = false;
        self.talk.say(None, |step| {
            let outputs = step.voice.withdraw(request, step.at);
            ours = !outputs.is_empty();
            outputs
        });
        ours
    }

    /// Ends a turn that the agent started, if it has been silent long enough. Otherwise returns when to check again;
    /// `None` if there is no such turn.
    pub fn end_own_turn(&self, quiet: Duration, working: Duration) -> Option<Instant> {
        let mut over = None;
        self.talk.say(None, |step| {
            if !step.turns.is_own() {
                return Vec::new();
            }
            let (voice, now) = (step.voice, Instant::now());
            let asks = voice.is_asking();
            let patience = if asks || voice.normaliser.works() { working } else { quiet };
            let due = voice.heard + patience;
            if now < due || asks {
                over = Some(due.max(now + quiet));
                return Vec::new();
            }
            voice.normaliser.end_turn(STOPPED, step.at)
        });
        over
    }

    /// Releases the session: ends the running turn and closes the receiver.
    pub fn release(&self) {
        self.talk.release();
        self.talk.close();
    }
}

#[async_trait]
impl SetOption for Session {
    async fn set_option(&self, id: &str, value: &OptionValue) -> Result<(), NotSet> {
        let (reply, answer) = oneshot::channel();
        self.talk.with(|voice| {
            let reported = &voice.normaliser.reported;
            let (method, params) = reported.request(&self.agent_ref, id, value);
            let (agent_ref, id, value) = (self.agent_ref.clone(), id.to_owned(), value.clone());
            let waiter = Waiter::Option { agent_ref, id, value, reply };
            voice.connection.as_ref().ok_or(Closed)?.request(method, &params, waiter)
        })?;
        match answer.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(NoAnswer::Refused(error))) => {
                let scrub = |voice: &mut AcpVoice| voice.normaliser.secrets.scrub(&error.words());
                Err(NotSet::Refused(self.talk.with(scrub)))
            }
            Ok(Err(error)) => Err(NotSet::Refused(error.to_string())),
            Err(_closed) => Err(NotSet::Closed),
        }
    }
}

/// What an agent wants from the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Permission,
    /// A form to fill, or a page to open.
    Form,
}

impl Asked {
    /// The answer if nobody is there to give one.
    fn cancelled(self) -> Value {
        match self {
            Self::Permission => Wanted::Choice(Vec::new()).cancelled(),
            Self::Form => Wanted::Form(Vec::new()).cancelled(),
        }
    }
}

/// Whether to report the history that the agent replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryWanted {
    Yes,
    No,
}
