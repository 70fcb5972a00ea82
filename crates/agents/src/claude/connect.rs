//! Starts a `claude` process on the right conversation, does the handshake, and reads its output to the end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use liminal_contract::Details;

use super::session::Session;
use super::start::{self, Conversation, Initialized, Settings};
use super::trust;
use super::wire::Line;
use crate::ProviderError;
use crate::conversation::{self, ReadEnd};
use crate::lifecycle::{Attempt, Connect};
use crate::process::{Budget, Lines, Noise, Process, Started};

pub(super) struct Link {
    generation: u64,
    process: Process,
    /// It has answered `initialize`: ending after that is a crash, before that a refusal to start.
    ready: AtomicBool,
}

impl conversation::Link for Link {
    fn generation(&self) -> u64 {
        self.generation
    }

    fn is_over(&self) -> bool {
        !self.process.is_alive()
    }
}

/// Starts the process of one session.
pub(super) struct Starter {
    pub session: Weak<Session>,
}

#[async_trait]
impl Connect for Starter {
    type Link = Link;

    async fn connect(&self, attempt: &Attempt) -> Result<Arc<Link>, ProviderError> {
        let Some(session) = self.session.upgrade() else {
            return Err(ProviderError::NotConnected {
                name: String::new(),
                reason: "The session was closed.".to_owned(),
                stderr_tail: String::new(),
            });
        };
        let shared = &session.shared;
        let name = &shared.entry.name;
        let agent_ref = session.agent_ref();
        let known = shared.files.find(&agent_ref).is_some();
        // It writes a file only with the first message; until then it has to be told what to remember.
        let conversation = match &session.fork {
            _ if known => Conversation::Resumed(&agent_ref),
            Some(from) => Conversation::Forked { id: &agent_ref, from },
            None => Conversation::New(&agent_ref),
        };
        let trusted = shared.trust.is_confirmed(&session.project)
            || trust::brings(&session.project).is_empty();
        let settings = if trusted { Settings::All } else { Settings::User };
        let launch = start::launch(&shared.entry, &session.project, settings, &conversation);
        let Started { process, stdin, stdout } = launch.spawn(&shared.guard).await?;
        attempt.runs(&process);
        session.runs(&process);

        let (generation, ready) = (attempt.generation(), AtomicBool::new(false));
        let link = Arc::new(Link { generation, process: process.clone(), ready });
        let spent = matches!(conversation, Conversation::New(_)).then_some(0.0);
        let initialized =
            session.talk.attach(generation, false, |voice| voice.attached(stdin, spent));
        let lines = stdout.lines(Budget::default());
        let reading =
            read_until_gone(Arc::clone(&session), Arc::clone(&link), lines, attempt.clone());
        tokio::spawn(reading);

        match initialized.await {
            Ok(response) if response.subtype == "success" => {
                let said = Initialized::read(&response.response);
                if said.is_logged_out() {
                    return Err(start::logged_out(name));
                }
                link.ready.store(true, Ordering::Release);
                let settings = session.settings().await.unwrap_or_default();
                session.talk.say(None, |step| step.voice.normaliser.initialized(said, &settings));
                session.talk.restore_options(&*session).await;
                tokio::spawn(Arc::clone(&session).watch_mcp());
                Ok(link)
            }
            Ok(response) => Err(ProviderError::SessionRefused {
                words: response.error.unwrap_or_default(),
                stderr_tail: process.stderr().text(),
            }),
            Err(_it_ended) => {
                let exit = process.exited().await;
                let tail = process.last_words().await;
                let errors = session.talk.with(|voice| voice.refusal.clone());
                Err(start::ended_at_start(name, exit, &errors, tail))
            }
        }
    }
}

/// Reads a process to its end, then reports that to the session.
async fn read_until_gone(session: Arc<Session>, link: Arc<Link>, lines: Lines, attempt: Attempt) {
    let name = &session.shared.entry.name;
    let reading = read(&session, &link, lines);
    let error = conversation::read_until_gone(reading, &link.process, name).await;
    if !link.ready.load(Ordering::Acquire) {
        return session.talk.detach(link.generation);
    }
    let mut failure = conversation::failure(&error);
    if let ProviderError::ProcessEnded { .. } = error {
        let exit = link.process.exited().await;
        failure.message = format!("Connection to {name} lost: the process {exit}.");
    }
    let hint = "Send a message to start it again; the conversation is kept.".to_owned();
    let details = failure.details.take().unwrap_or_default();
    failure.details = Some(Details { hint: Some(hint), ..details });
    session.gone(&link, attempt.was_stopped(), failure);
}

async fn read(session: &Arc<Session>, link: &Link, mut lines: Lines) -> ReadEnd {
    let mut noise = Noise::of(&session.shared.entry.name, &link.process);
    loop {
        match lines.next().await {
            Ok(Some(line)) => match Line::parse(&line.bytes) {
                Ok(parsed) => {
                    let has_servers =
                        matches!(&parsed, Line::Init(init) if !init.mcp_servers.is_empty());
                    session.line(link, parsed, line.charge);
                    if has_servers {
                        tokio::spawn(Arc::clone(session).watch_mcp());
                    }
                }
                Err(error) => noise.skipped(&line.bytes, &error.to_string()),
            },
            Ok(None) => return ReadEnd::Eof,
            Err(error) => return ReadEnd::Broken(error),
        }
    }
}
