//! Creates and resumes sessions: `session/new`, `load`, `resume`, and the options that they start with.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    AuthenticateRequest, LoadSessionRequest, McpServer, NewSessionRequest,
};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::envelope::RpcError;
use super::link::{CreatedSession, Link, NoAnswer};
use super::session::{HistoryWanted, Session};
use crate::conversation::Link as _;
use crate::{NewSession, ProviderError, ProviderSession};

pub(crate) async fn make(
    link: &Arc<Link>,
    new: NewSession,
) -> Result<ProviderSession, ProviderError> {
    let mut made = request_new(link, new.clone()).await;
    if has_logged_in(link, made.as_ref().err()).await {
        made = request_new(link, new).await;
    }
    let CreatedSession { session, output } = made.map_err(|error| {
        let refused = |words| ProviderError::SessionRefused { words, stderr_tail: String::new() };
        failed(link, error, refused)
    })?;
    session.set_options().await;
    let (session_id, agent_ref) = (session.id.clone(), session.agent_ref.clone());
    Ok(ProviderSession { session_id, agent_ref, output })
}

async fn request_new(link: &Arc<Link>, new: NewSession) -> Result<CreatedSession, NoAnswer> {
    let limit = link.shared.patience.session;
    let Some(fork) = &new.fork else {
        let request = NewSessionRequest::new(new.project_dir.clone()).mcp_servers(servers(link));
        return link.make_session("session/new", &request, new, limit).await;
    };
    if !link.offers().fork {
        let words = format!("{} can't fork a session.", link.shared.agent.name);
        return Err(NoAnswer::Refused(RpcError::new(RpcError::METHOD_NOT_FOUND, words)));
    }
    // The same params as for `load`.
    let request = LoadSessionRequest::new(fork.agent_ref.clone(), new.project_dir.clone())
        .mcp_servers(servers(link));
    link.make_session("session/fork", &request, new, limit).await
}

/// Whether to ask again: the agent wanted a login that needs nothing from the user, and now has it.
async fn has_logged_in(link: &Link, refusal: Option<&NoAnswer>) -> bool {
    if !matches!(refusal, Some(NoAnswer::Refused(it)) if it.code == RpcError::AUTH_REQUIRED) {
        return false;
    }
    for method in link.offers().logins.silent {
        let login = AuthenticateRequest::new(method);
        match link.request("authenticate", &login, link.shared.patience.session).await {
            Ok(_) => return true,
            Err(error) => {
                tracing::info!(agent = %link.shared.agent.name, %error, "A login failed");
            }
        }
    }
    false
}

/// Resumes a session, unless this start of the agent already knows it. When this returns the agent has accepted;
/// history may still follow. [`settled`] waits for that too.
pub(crate) async fn attach_session(
    link: &Arc<Link>,
    session: &Arc<Session>,
    history: HistoryWanted,
) -> Result<(), ProviderError> {
    let one_at_a_time = Arc::clone(&session.attaching).lock_owned().await;
    if session.talk.generation() == Some(link.generation) {
        return Ok(());
    }
    let mut attached = request_attach(link, session, history).await;
    if has_logged_in(link, attached.as_ref().err()).await {
        attached = request_attach(link, session, history).await;
    }
    let attached = attached.map_err(|error| attach_error(link, error));
    let (answer, tells) = attached.inspect_err(|_refused| session.detach(link))?;
    session.facts_at_start(link, &answer);
    let (link, session) = (Arc::clone(link), Arc::clone(session));
    tokio::spawn(async move {
        session.set_options().await;
        if tells == HistoryFollows::Maybe {
            wait_for_history(&link, &session).await;
        }
        session.history_complete(history);
        drop(one_at_a_time);
    });
    Ok(())
}

/// Waits until a resumed session can take a prompt.
pub(crate) async fn settled(session: &Session) {
    drop(session.attaching.lock().await);
}

/// Whether history may follow the agent's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HistoryFollows {
    Maybe,
    No,
}

async fn request_attach(
    link: &Arc<Link>,
    session: &Session,
    history: HistoryWanted,
) -> Result<(Value, HistoryFollows), NoAnswer> {
    let offers = link.offers();
    let resumes = offers.resume && (history == HistoryWanted::No || !offers.load);
    if resumes {
        match resume(link, session).await {
            Ok(answer) => return Ok((answer, HistoryFollows::No)),
            Err(NoAnswer::Refused(error))
                if error.code == RpcError::METHOD_NOT_FOUND && offers.load => {}
            Err(error) => return Err(error),
        }
    }
    if !offers.load {
        let name = &link.shared.agent.name;
        let words = format!("{name} can't resume a session after it was stopped. Start a new one.");
        return Err(NoAnswer::Refused(RpcError::new(RpcError::NOT_FOUND, words)));
    }
    Ok((load(link, session, history).await?, HistoryFollows::Maybe))
}

/// Only an "unknown session" means that the agent has lost it; any other refusal does not.
fn attach_error(link: &Link, error: NoAnswer) -> ProviderError {
    let forgotten = matches!(&error, NoAnswer::Refused(refusal) if refusal.is_unknown_session());
    failed(link, error, |words| match forgotten {
        true => ProviderError::SessionUnknown { words },
        false => ProviderError::AgentFailed { words },
    })
}

/// After a crash: resumes the sessions of the process that is gone.
pub(crate) async fn attach_lost_sessions(link: Arc<Link>) {
    for session in link.shared.all() {
        if session.talk.is_lost() {
            // The next message tries again and reports the error.
            if let Err(error) = attach_session(&link, &session, HistoryWanted::No).await {
                tracing::info!(session = %session.id, %error, "A session could not be resumed");
            }
        }
    }
}

async fn load(
    link: &Arc<Link>,
    session: &Session,
    history: HistoryWanted,
) -> Result<Value, NoAnswer> {
    // The history may come before the answer.
    session.attach(link, Some(history));
    let request = LoadSessionRequest::new(session.agent_ref.clone(), session.project_dir.clone())
        .mcp_servers(servers(link));
    link.request("session/load", &request, link.shared.patience.session).await
}

async fn resume(link: &Arc<Link>, session: &Session) -> Result<Value, NoAnswer> {
    session.attach(link, Some(HistoryWanted::No));
    // The same params as for `load`: the type for `resume` omits an empty `mcpServers`, which agents require.
    let request = LoadSessionRequest::new(session.agent_ref.clone(), session.project_dir.clone())
        .mcp_servers(servers(link));
    link.request("session/resume", &request, link.shared.patience.session).await
}

/// The MCP servers of `agents.json` that this agent can use.
fn servers(link: &Link) -> Vec<McpServer> {
    link.shared.agent.mcp.for_agent(&link.offers().mcp)
}

/// Some agents replay the history only after their answer. It is complete after some silence, and must be complete
/// before the first prompt, or the two would be mixed.
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

fn failed(
    link: &Link,
    error: NoAnswer,
    refused: impl FnOnce(String) -> ProviderError,
) -> ProviderError {
    let agent = &link.shared.agent;
    let name = agent.name.clone();
    match error {
        NoAnswer::Refused(error) => agent.refused(&error, &link.offers().logins.methods, refused),
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
