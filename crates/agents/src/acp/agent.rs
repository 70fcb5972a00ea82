//! One ACP agent: how to start it, what it may use of ours, and what it offers.

use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AuthCapabilities, BooleanConfigOptionCapabilities, ClientCapabilities,
    ClientSessionCapabilities, CompactionCapabilities, ElicitationCapabilities,
    ElicitationFormCapabilities, ElicitationUrlCapabilities, FileSystemCapabilities,
    Implementation, InitializeRequest, InitializeResponse, McpCapabilities, NoticeCapabilities,
    PlanCapabilities, SessionConfigOptionsCapabilities,
};
use liminal_contract::{AuthMethod, CliType, SessionId};

use super::envelope::RpcError;
use super::login::{Logins, quoted_command};
use crate::ProviderError;
use crate::catalogue::{AgentEntry, McpServers, Processes, Speaks};
use crate::process::Launch;

/// An agent as the catalogue has it.
#[derive(Debug, Clone)]
pub struct AcpAgent {
    pub cli_type: CliType,
    /// Its display name.
    pub name: String,
    pub launch: Launch,
    /// The command that logs in.
    pub login: Option<String>,
    /// The mode in which it asks before acting, if that is not its default.
    pub ask_mode: Option<String>,
    /// Whether it may read and write the project's files through us.
    pub fs: bool,
    /// Whether it may run commands through us.
    pub terminal: bool,
    pub processes: Processes,
    /// Servers of tools that it gets with each session.
    pub mcp: McpServers,
}

/// How long to wait for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// To create or resume a session.
    pub session: Duration,
    /// To end a turn that was asked to stop.
    pub interrupt: Duration,
    /// To close a session.
    pub close: Duration,
    /// A history is complete after this much silence.
    pub history_quiet: Duration,
    /// The longest wait for a history.
    pub history_longest: Duration,
    /// A turn that the agent started is over after this much silence.
    pub own_turn_quiet: Duration,
    /// The same while the agent says that one of its calls is running. Longer, because calls can be silent for a long
    /// time; limited, because some agents forget to end them, and nothing else marks the end of the turn.
    pub own_turn_working: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            session: Duration::from_secs(60),
            interrupt: Duration::from_secs(10),
            close: Duration::from_secs(5),
            history_quiet: Duration::from_millis(250),
            history_longest: Duration::from_secs(10),
            own_turn_quiet: Duration::from_secs(1),
            own_turn_working: Duration::from_secs(60),
        }
    }
}

/// What a running agent supports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    pub load: bool,
    pub resume: bool,
    pub close: bool,
    pub list: bool,
    pub takes: Takes,
    /// `session/fork`, of whole sessions.
    pub fork: bool,
    /// `_session/steering`.
    pub steering: bool,
    pub mcp: McpCapabilities,
    pub version: Option<String>,
    pub logins: Logins,
}

/// What a prompt may contain beside text and links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Takes {
    pub pictures: bool,
    /// Text with a name of its own.
    pub resources: bool,
}

impl AcpAgent {
    /// `cwd` is where the process runs if its project is gone. `None` if the entry does not speak ACP.
    pub fn of_entry(entry: &AgentEntry, cwd: impl Into<PathBuf>) -> Option<Self> {
        let Speaks::Acp(options) = &entry.speaks else { return None };
        Some(Self {
            cli_type: entry.cli_type.clone(),
            name: entry.name.clone(),
            launch: entry.launch(cwd),
            login: entry.login.clone(),
            ask_mode: options.ask_mode.clone(),
            fs: options.fs,
            terminal: options.terminal,
            processes: options.processes,
            mcp: options.mcp.clone(),
        })
    }

    /// Our id of the agent's session; a generated one if the agent's id is unknown yet or not valid in ours.
    pub(crate) fn session_id(&self, agent_ref: Option<&str>) -> SessionId {
        let theirs = agent_ref.and_then(|id| SessionId::new(&self.cli_type, id).ok());
        let own = || SessionId::new(&self.cli_type, &uuid::Uuid::new_v4().to_string());
        match theirs.map_or_else(own, Ok) {
            Ok(id) => id,
            Err(_) => unreachable!("a UUID makes a session id"),
        }
    }

    /// The `initialize` request.
    pub(crate) fn greeting(&self) -> InitializeRequest {
        let fs = FileSystemCapabilities::new().read_text_file(self.fs).write_text_file(self.fs);
        let flags =
            SessionConfigOptionsCapabilities::new().boolean(BooleanConfigOptionCapabilities::new());
        let session = ClientSessionCapabilities::new()
            .notices(NoticeCapabilities::new())
            .config_options(flags)
            .compaction(CompactionCapabilities::default());
        let auth = AuthCapabilities::new().terminal(true);
        let elicitation = ElicitationCapabilities::new()
            .form(ElicitationFormCapabilities::new())
            .url(ElicitationUrlCapabilities::new());
        let capabilities = ClientCapabilities::new()
            .fs(fs)
            .terminal(self.terminal)
            .session(session)
            .auth(auth)
            .plan(PlanCapabilities::new())
            .elicitation(elicitation);
        let info = Implementation::new("liminal-builder", env!("CARGO_PKG_VERSION"))
            .title("Liminal Builder".to_owned());
        InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(info)
    }

    /// Reads the answer to `initialize`. Fails if the agent speaks another version.
    pub(crate) fn greeted(&self, answer: serde_json::Value) -> Result<Offers, ProviderError> {
        let broken = |what| ProviderError::Protocol { name: self.name.clone(), what };
        let logins = Logins::read(&answer, &self.launch);
        let steering = answer["_meta"]["steering"]["supported"] == true;
        let fork = answer["agentCapabilities"]["sessionCapabilities"]["fork"].is_object();
        let answer: InitializeResponse = serde_json::from_value(answer)
            .map_err(|error| broken(format!("its answer to initialize is invalid ({error})")))?;
        if answer.protocol_version != ProtocolVersion::V1 {
            return Err(broken(format!(
                "it speaks version {}, but only version 1 is supported",
                answer.protocol_version
            )));
        }
        let capabilities = answer.agent_capabilities;
        let version = answer.agent_info.map(|info| info.version);
        Ok(Offers {
            load: capabilities.load_session,
            resume: capabilities.session_capabilities.resume.is_some(),
            close: capabilities.session_capabilities.close.is_some(),
            list: capabilities.session_capabilities.list.is_some(),
            takes: Takes {
                pictures: capabilities.prompt_capabilities.image,
                resources: capabilities.prompt_capabilities.embedded_context,
            },
            fork,
            steering,
            mcp: capabilities.mcp_capabilities,
            version,
            logins,
        })
    }

    /// `words` are the agent's own.
    pub(crate) fn auth_required(&self, words: &str, methods: &[AuthMethod]) -> ProviderError {
        let command = self
            .login
            .clone()
            .or_else(|| methods.iter().find_map(|method| method.command.clone()))
            .or_else(|| quoted_command(words));
        ProviderError::AuthRequired {
            name: self.name.clone(),
            words: words.to_owned(),
            command,
            methods: methods.to_vec(),
        }
    }

    /// Turns an agent's error into ours: a missing login, or else `otherwise`.
    pub(crate) fn refused(
        &self,
        error: &RpcError,
        methods: &[AuthMethod],
        otherwise: impl FnOnce(String) -> ProviderError,
    ) -> ProviderError {
        let words = self.mcp.secrets().scrub(&error.words());
        if error.code == RpcError::AUTH_REQUIRED {
            self.auth_required(&words, methods)
        } else {
            otherwise(words)
        }
    }
}
