//! What can go wrong with an agent, in the user's terms.

use liminal_contract::{AuthMethod, Details, ErrorCode};

/// Why a provider failed. The user reads the `Display` text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    #[error("Could not start {name}. Check that it's installed.")]
    NotInstalled {
        name: String,
        program: String,
        /// The command that installs it.
        install: Option<String>,
    },
    /// The process exited before it was ready, or took too long.
    #[error("Could not connect to {name}. {reason}")]
    NotConnected {
        name: String,
        /// A full sentence.
        reason: String,
        stderr_tail: String,
    },
    #[error("{name} is not logged in.")]
    AuthRequired {
        name: String,
        /// The agent's own words; may be empty.
        words: String,
        /// The command that logs in.
        command: Option<String>,
        methods: Vec<AuthMethod>,
    },
    /// The agent runs but refused to create or resume the session.
    #[error("Could not create session. {words}")]
    SessionRefused {
        /// The agent's own words.
        words: String,
        stderr_tail: String,
    },
    /// The agent does not know the session, or the session is not attached.
    #[error("Session not found. {words}")]
    SessionUnknown { words: String },
    #[error("Connection to {name} lost.")]
    ProcessEnded { name: String, stderr_tail: String },
    /// The agent answered with an error.
    #[error("{words}")]
    AgentFailed {
        /// The agent's own words.
        words: String,
    },
    #[error("{name} broke the protocol: {what}")]
    Protocol { name: String, what: String },
    /// The agent did not stop in time.
    #[error("{name} isn't responding to Stop. Restart it?")]
    InterruptUnanswered { name: String },
    #[error("{name} is still working. Wait or stop it, then send again.")]
    Busy { name: String },
    /// Answered elsewhere, cancelled, or the agent is gone.
    #[error("This permission is no longer open.")]
    PermissionClosed,
    /// The agent doesn't offer that value of an option, or refused it.
    #[error("{name} did not accept {value} for {option}. {words}")]
    OptionRefused {
        name: String,
        /// As shown to the user, like `value`.
        option: String,
        value: String,
        /// The agent's own words, or empty.
        words: String,
    },
    /// The user has not confirmed it in this project.
    #[error("Confirm {choice} first: the agent then asks less often.")]
    OptionUnconfirmed {
        /// As shown to the user.
        choice: String,
    },
    #[error(
        "There is no agent called {cli_type:?}. Run `liminal doctor` to list the agents, \
         or add yours to agents.json."
    )]
    Unsupported { cli_type: String },
}

impl ProviderError {
    /// The user chose an answer that this agent did not offer.
    pub(crate) fn not_offered(name: &str) -> Self {
        Self::AgentFailed { words: format!("{name} did not offer that answer.") }
    }

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
            Self::OptionRefused { .. } => ErrorCode::OptionRefused,
            Self::OptionUnconfirmed { .. } => ErrorCode::OptionUnconfirmed,
            Self::Unsupported { .. } => ErrorCode::UnsupportedCliType,
        }
    }

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
            Self::AuthRequired { words, command, methods, .. } => Details {
                hint: tail(words).filter(|it| !it.eq_ignore_ascii_case("authentication required")),
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
            | Self::OptionRefused { .. }
            | Self::OptionUnconfirmed { .. }
            | Self::Unsupported { .. } => return None,
        };
        (details != Details::default()).then_some(details)
    }
}
