//! What one ACP agent is to us: how it is started, what it may use of ours, and what it offers.

use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    ClientCapabilities, ClientSessionCapabilities, FileSystemCapabilities, Implementation,
    InitializeRequest, InitializeResponse, NoticeCapabilities,
};
use liminal_contract::{AuthMethod, CliType};

use super::envelope::RpcError;
use crate::ProviderError;
use crate::catalogue::{AgentEntry, Speaks};
use crate::process::Launch;

/// An agent as the catalogue has it.
#[derive(Debug, Clone)]
pub struct AcpAgent {
    /// Which agent.
    pub cli_type: CliType,
    /// What the user calls it.
    pub name: String,
    /// How to start it.
    pub launch: Launch,
    /// What to type to log in.
    pub login: Option<String>,
    /// The mode in which it asks before it acts, where that is not its own default.
    pub ask_mode: Option<String>,
    /// Whether it may read and write the project's files through us.
    pub fs: bool,
    /// Whether it may run commands through us.
    pub terminal: bool,
}

/// How long an agent is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// For making a session or taking one up.
    pub session: Duration,
    /// For the end of a turn that is to be stopped.
    pub interrupt: Duration,
    /// For the close of a session.
    pub close: Duration,
    /// A history is told when nothing more of it came for this long.
    pub history_quiet: Duration,
    /// A history is not waited for longer than this.
    pub history_longest: Duration,
    /// A turn the agent began by itself is over when nothing more of it came for this long.
    pub own_turn_quiet: Duration,
    /// The same while a call of it runs, as far as the agent says. Longer, because calls are silent for long; not
    /// for ever, because some agents forget to end them, and nothing else tells that the turn is over.
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

/// What a running agent said about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    pub load: bool,
    pub resume: bool,
    pub close: bool,
    pub auth_methods: Vec<AuthMethod>,
}

impl AcpAgent {
    /// From the catalogue. `cwd` is where the process runs; each session has a directory of its own. `None` when the
    /// entry speaks something else.
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
        })
    }

    /// What we say about ourselves.
    pub(crate) fn greeting(&self) -> InitializeRequest {
        let fs = FileSystemCapabilities::new().read_text_file(self.fs).write_text_file(self.fs);
        let session = ClientSessionCapabilities::new().notices(NoticeCapabilities::new());
        let capabilities =
            ClientCapabilities::new().fs(fs).terminal(self.terminal).session(session);
        let info = Implementation::new("liminal", env!("CARGO_PKG_VERSION"))
            .title("Liminal Builder".to_owned());
        InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(info)
    }

    /// What the agent said about itself, if it speaks our version.
    pub(crate) fn greeted(&self, answer: serde_json::Value) -> Result<Offers, ProviderError> {
        let broken = |what| ProviderError::Protocol { name: self.name.clone(), what };
        let answer: InitializeResponse = serde_json::from_value(answer)
            .map_err(|error| broken(format!("its answer to initialize is not one ({error})")))?;
        if answer.protocol_version != ProtocolVersion::V1 {
            return Err(broken(format!(
                "it speaks version {} of it, and only version 1 is understood here",
                answer.protocol_version
            )));
        }
        let auth_methods = answer.auth_methods.iter().map(|method| AuthMethod {
            id: method.id().0.to_string(),
            name: method.name().to_owned(),
            description: method.description().map(str::to_owned),
        });
        let capabilities = answer.agent_capabilities;
        Ok(Offers {
            load: capabilities.load_session,
            resume: capabilities.session_capabilities.resume.is_some(),
            close: capabilities.session_capabilities.close.is_some(),
            auth_methods: auth_methods.collect(),
        })
    }

    /// The agent wants a login.
    pub(crate) fn auth_required(&self, methods: &[AuthMethod]) -> ProviderError {
        ProviderError::AuthRequired {
            name: self.name.clone(),
            command: self.login.clone(),
            methods: methods.to_vec(),
        }
    }

    /// An error of the agent's own in answer to a request about a session.
    pub(crate) fn refused(
        &self,
        error: &RpcError,
        methods: &[AuthMethod],
        otherwise: impl FnOnce(String) -> ProviderError,
    ) -> ProviderError {
        if error.code == RpcError::AUTH_REQUIRED {
            self.auth_required(methods)
        } else {
            otherwise(error.words())
        }
    }
}
