//! Making sessions and taking them up: `session/new`, `load`, `resume`, and the mode that asks.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    LoadSessionRequest, NewSessionRequest, SetSessionModeRequest,
};
use liminal_stream::SessionFact;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::envelope::RpcError;
use super::link::{Link, Made, NoAnswer};
use super::normalise::modes;
use super::session::{Session, Wanted};
use crate::{NewSession, ProviderError, ProviderSession};

/// Makes a session with the agent.
pub(crate) async fn make(
    link: &Arc<Link>,
    new: NewSession,
) -> Result<ProviderSession, ProviderError> {
    let request = NewSessionRequest::new(new.project_dir.clone());
    let made = link.make_session(&request, new, link.shared.patience.session).await;
    let Made { session, output, answer } = made.map_err(|error| {
        let refused = |words| ProviderError::SessionRefused { words, stderr_tail: String::new() };
        failed(link, error, refused)
    })?;
    make_it_ask(link, &session, &answer).await;
    let (session_id, agent_ref) = (session.id.clone(), session.agent_ref.clone());
    Ok(ProviderSession { session_id, agent_ref, output })
}

/// Takes up a session with the agent, unless this start of it knows the session already. When this returns the
/// agent has said yes; a history may still be told. [`settled`] waits for that too.
pub(crate) async fn take_up(
    link: &Arc<Link>,
    session: &Arc<Session>,
    history: Wanted,
) -> Result<(), ProviderError> {
    let one_at_a_time = Arc::clone(&session.attaching).lock_owned().await;
    if session.generation() == Some(link.generation) {
        return Ok(());
    }
    let taken_up = ask_to_take_up(link, session, history).await;
    let (answer, tells) = taken_up.inspect_err(|_refused| session.detach())?;
    session.told_at_start(&answer);
    let (link, session) = (Arc::clone(link), Arc::clone(session));
    tokio::spawn(async move {
        make_it_ask(&link, &session, &answer).await;
        if tells == Tells::Maybe {
            wait_for_history(&link, &session).await;
        }
        session.history_told(history);
        drop(one_at_a_time);
    });
    Ok(())
}

/// Waits until a session that was taken up can be talked to.
pub(crate) async fn settled(session: &Session) {
    drop(session.attaching.lock().await);
}

/// Whether a history may come behind the agent's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tells {
    Maybe,
    Nothing,
}

async fn ask_to_take_up(
    link: &Arc<Link>,
    session: &Session,
    history: Wanted,
) -> Result<(Value, Tells), ProviderError> {
    let offers = link.offers();
    let resumes = offers.resume && (history == Wanted::No || !offers.load);
    if resumes {
        match resume(link, session).await {
            Ok(answer) => return Ok((answer, Tells::Nothing)),
            Err(NoAnswer::Refused(error))
                if error.code == RpcError::METHOD_NOT_FOUND && offers.load => {}
            Err(error) => return Err(not_taken_up(link, error)),
        }
    }
    if !offers.load {
        return Err(ProviderError::SessionUnknown {
            words: format!(
                "{} can't take up a session again after it was stopped. Start a new one.",
                link.shared.agent.name
            ),
        });
    }
    let answer = load(link, session, history).await.map_err(|error| not_taken_up(link, error))?;
    Ok((answer, Tells::Maybe))
}

fn not_taken_up(link: &Link, error: NoAnswer) -> ProviderError {
    failed(link, error, |words| ProviderError::SessionUnknown { words })
}

/// After a crash: the sessions of the process that is gone.
pub(crate) async fn take_up_again(link: Arc<Link>) {
    for session in link.shared.all() {
        if session.generation().is_none() && session.was_attached() {
            // Who sends a message next tries again, and is told.
            if let Err(error) = take_up(&link, &session, Wanted::No).await {
                tracing::info!(session = %session.id, %error, "A session was not taken up again");
            }
        }
    }
}

async fn load(link: &Arc<Link>, session: &Session, history: Wanted) -> Result<Value, NoAnswer> {
    // What it tells may come before its answer.
    session.attach(link.generation, Arc::clone(&link.connection), Some(history));
    let request = LoadSessionRequest::new(session.agent_ref.clone(), session.project_dir.clone());
    link.request("session/load", &request, link.shared.patience.session).await
}

async fn resume(link: &Arc<Link>, session: &Session) -> Result<Value, NoAnswer> {
    session.attach(link.generation, Arc::clone(&link.connection), Some(Wanted::No));
    // The same content as of a load. The type made for this leaves out an empty `mcpServers`, which agents require.
    let request = LoadSessionRequest::new(session.agent_ref.clone(), session.project_dir.clone());
    link.request("session/resume", &request, link.shared.patience.session).await
}

/// Some agents tell a history only after they said that they have. It is over when nothing more comes, and it must
/// be over before the first prompt, or the two would be mixed.
async fn wait_for_history(link: &Link, session: &Session) {
    let patience = &link.shared.patience;
    let answered = Instant::now();
    let longest = answered + patience.history_longest;
    loop {
        let quiet = (session.heard().max(answered) + patience.history_quiet).min(longest);
        if Instant::now() >= quiet || link.is_over() {
            return;
        }
        sleep_until(quiet).await;
    }
}

/// Puts the session into the mode in which the agent asks before it acts. Where there is none the user must know.
async fn make_it_ask(link: &Link, session: &Session, answer: &Value) {
    let Some(wanted) = &link.shared.agent.ask_mode else { return };
    let told = answer.get("modes").and_then(modes);
    let asks = match &told {
        Some(SessionFact::Modes { current, .. }) if current == wanted => true,
        Some(SessionFact::Modes { available, .. })
            if available.iter().any(|mode| mode.id == *wanted) =>
        {
            let request = SetSessionModeRequest::new(session.agent_ref.clone(), wanted.clone());
            let set =
                link.request("session/set_mode", &request, link.shared.patience.session).await;
            set.inspect_err(|error| {
                tracing::warn!(session = %session.id, %error, "The agent would not change its mode");
            })
            .is_ok()
        }
        _ => false,
    };
    match (asks, told) {
        (true, Some(SessionFact::Modes { available, .. })) => {
            session.tell(SessionFact::Modes { current: wanted.clone(), available });
        }
        _ => session.tell(SessionFact::DecidesByItself),
    }
}

/// Why a request about a session failed.
fn failed(
    link: &Link,
    error: NoAnswer,
    refused: impl FnOnce(String) -> ProviderError,
) -> ProviderError {
    let agent = &link.shared.agent;
    let name = agent.name.clone();
    match error {
        NoAnswer::Refused(error) => agent.refused(&error, &link.offers().auth_methods, refused),
        NoAnswer::Left { stderr_tail } => ProviderError::ProcessEnded { name, stderr_tail },
        NoAnswer::Nonsense(what) => ProviderError::Protocol { name, what },
        NoAnswer::TooLong(_) => {
            let reason = format!("{}.", capital(&error.to_string()));
            ProviderError::NotConnected { name, reason, stderr_tail: String::new() }
        }
    }
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
