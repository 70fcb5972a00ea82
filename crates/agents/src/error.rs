//! What can go wrong with an agent, in the user's terms.

use liminal_contract::{AuthMethod, Details, ErrorCode};

/// A provider could not do what was asked. `Display` is what the user reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The program is not there.
    #[error("Could not start {name}. Check that it's installed.")]
    NotInstalled {
        /// The agent.
        name: String,
        /// What was tried.
        program: String,
        /// What to type.
        install: Option<String>,
    },
    /// The program started and ended, or never got ready.
    #[error("Could not connect to {name}. {reason}")]
    NotConnected {
        /// The agent.
        name: String,
        /// A sentence.
        reason: String,
        /// The last it wrote to stderr.
        stderr_tail: String,
    },
    /// The agent wants a login.
    #[error("{name} is not logged in.")]
    AuthRequired {
        /// The agent.
        name: String,
        /// What to type.
        command: Option<String>,
        /// As the agent offers them.
        methods: Vec<AuthMethod>,
    },
    /// The agent runs but refused to make or take up the session.
    #[error("Could not create session. {words}")]
    SessionRefused {
        /// The agent's words.
        words: String,
        /// The last it wrote to stderr.
        stderr_tail: String,
    },
    /// The agent does not know the session, or we were not told of it.
    #[error("Session not found. {words}")]
    SessionUnknown {
        /// What was looked for and where.
        words: String,
    },
    /// The process is gone.
    #[error("Connection to {name} lost.")]
    ProcessEnded {
        /// The agent.
        name: String,
        /// The last it wrote to stderr.
        stderr_tail: String,
    },
    /// The agent answered with an error of its own.
    #[error("{words}")]
    AgentFailed {
        /// The agent's words.
        words: String,
    },
    /// The agent broke the protocol.
    #[error("{name} broke its protocol: {what}")]
    Protocol {
        /// The agent.
        name: String,
        /// What was wrong.
        what: String,
    },
    /// No answer to a cancel in time.
    #[error("Stop did not reach {name}; restart it?")]
    InterruptUnanswered {
        /// The agent.
        name: String,
    },
    /// A turn is running already.
    #[error("{name} is still answering. Wait for it, or stop it.")]
    Busy {
        /// The agent.
        name: String,
    },
    /// Answered elsewhere, cancelled, or the agent left.
    #[error("This question is no longer open.")]
    PermissionClosed,
    /// No such agent in the catalogue.
    #[error(
        "There is no agent called {cli_type:?}. `liminal doctor` lists those there are; add yours to agents.json."
    )]
    Unsupported {
        /// What was asked for.
        cli_type: String,
    },
}

impl ProviderError {
    /// Somebody chose an answer that the agent of this name did not offer.
    pub(crate) fn not_offered(name: &str) -> Self {
        Self::AgentFailed { words: format!("{name} did not offer that answer.") }
    }

    /// The contract's code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotInstalled { .. } | Self::NotConnected { .. } => ErrorCode::AgentUnavailable,
            Self::AuthRequired { .. } => ErrorCode::AuthRequired,
            Self::SessionRefused { .. } => ErrorCode::SessionCreateFailed,
            Self::SessionUnknown { .. } => ErrorCode::SessionNotFound,
            Self::ProcessEnded { .. } => ErrorCode::ProcessCrash,
            Self::AgentFailed { .. } => ErrorCode::AgentProtocolError,
            Self::Protocol { .. } => ErrorCode::ProtocolError,
            Self::InterruptUnanswered { .. } => ErrorCode::InterruptFailed,
            Self::Busy { .. } => ErrorCode::SessionBusy,
            Self::PermissionClosed => ErrorCode::PermissionClosed,
            Self::Unsupported { .. } => ErrorCode::UnsupportedCliType,
        }
    }

    /// The evidence, where there is any.
    pub fn details(&self) -> Option<Details> {
        let tail = |text: &String| (!text.is_empty()).then(|| text.clone());
        let details = match self {
            Self::NotInstalled { install, .. } => {
                Details { command: install.clone(), ..Details::default() }
            }
            Self::NotConnected { stderr_tail, .. }
            | Self::SessionRefused { stderr_tail, .. }
            | Self::ProcessEnded { stderr_tail, .. } => {
                Details { stderr_tail: tail(stderr_tail), ..Details::default() }
            }
            Self::AuthRequired { command, methods, .. } => Details {
                command: command.clone(),
                auth_methods: (!methods.is_empty()).then(|| methods.clone()),
                ..Details::default()
            },
            Self::SessionUnknown { .. }
            | Self::AgentFailed { .. }
            | Self::Protocol { .. }
            | Self::InterruptUnanswered { .. }
            | Self::Busy { .. }
            | Self::PermissionClosed
            | Self::Unsupported { .. } => return None,
        };
        (details != Details::default()).then_some(details)
    }
}
