//! Settings from flags and environment variables. A flag wins; a bad value is reported and nothing is started.
//!
//! Reads no file and touches no disk.

use std::ffi::OsString;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use liminal_agents::catalogue::Overrides;
use liminal_contract::Policy;
use tracing_subscriber::filter::Targets;

use crate::door::AllowedOrigin;

#[derive(Debug, Clone)]
pub struct Config {
    pub host: IpAddr,
    /// 0 picks a free one.
    pub port: u16,
    /// Absolute.
    pub data_dir: PathBuf,
    /// Whether to open the browser, if there is a display.
    pub open_browser: bool,
    /// More addresses under which the page may be opened.
    pub allowed_origins: Vec<AllowedOrigin>,
    /// Serve the page's files from the checkout.
    pub dev: bool,
    /// The policy of sessions that have none of their own.
    pub permissions: Policy,
    /// An idle agent is stopped after this long.
    pub idle: Duration,
    /// The wait before a crashed agent is restarted; each further wait is twice as long.
    pub retry: Duration,
    /// Instead of `claude`.
    pub claude_command: Option<String>,
    /// `CLAUDE_ACP_CMD` is set, which earlier versions used.
    pub sets_claude_acp_command: bool,
    /// Instead of `codex-acp`.
    pub codex_acp_command: Option<String>,
    /// An agent must be ready within this time.
    pub start_timeout: Option<Duration>,
    /// An agent that is silent for this long gets a notice.
    pub prompt_timeout: Duration,
    pub log: Targets,
}

/// The flags as given on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    pub host: Option<OsString>,
    pub port: Option<OsString>,
    pub data_dir: Option<OsString>,
    pub no_open: bool,
    /// Repeatable.
    pub allow_origin: Vec<OsString>,
    pub dev: bool,
}

/// An invalid value, reported in one line that names the setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {value:?} {problem}")]
pub struct BadValue {
    /// The flag or variable.
    pub name: &'static str,
    pub value: String,
    pub problem: String,
}

impl Config {
    pub fn read(flags: Flags, env: &impl Fn(&str) -> Option<OsString>) -> Result<Self, BadValue> {
        let variable = |name: &'static str| Given::from_env(name, env);
        let host = Given::flag("--host", flags.host).or_else(|| variable("LIMINAL_HOST"));
        let port = Given::flag("--port", flags.port).or_else(|| variable("LIMINAL_PORT"));
        let allowed_origins = flags
            .allow_origin
            .into_iter()
            .map(|value| Given { name: "--allow-origin", value }.parse(AllowedOrigin::parse))
            .collect::<Result<Vec<_>, _>>()?;

        let config = Self {
            host: host.parse_or(IpAddr::from([127, 0, 0, 1]), resolve)?,
            port: port
                .parse_or(3000, |text| text.parse().map_err(|_| "is not a port; use 0 to 65535"))?,
            data_dir: data_dir(flags.data_dir, env)?,
            open_browser: !flags.no_open,
            allowed_origins,
            dev: flags.dev,
            permissions: variable("LIMINAL_PERMISSIONS").parse_or(
                Policy::Ask,
                |text| match text {
                    "ask" => Ok(Policy::Ask),
                    "auto" => Ok(Policy::Auto),
                    _ => Err("must be ask or auto"),
                },
            )?,
            idle: variable("LIMINAL_IDLE_MS").parse_or(Duration::from_secs(600), milliseconds)?,
            retry: variable("LIMINAL_RETRY_MS").parse_or(Duration::from_secs(1), milliseconds)?,
            claude_command: variable("CLAUDE_CMD").parse_opt(command)?,
            sets_claude_acp_command: variable("CLAUDE_ACP_CMD").is_some(),
            codex_acp_command: variable("CODEX_ACP_CMD").parse_opt(command)?,
            start_timeout: variable("ACP_START_TIMEOUT_MS").parse_opt(milliseconds)?,
            prompt_timeout: variable("ACP_PROMPT_TIMEOUT_MS")
                .parse_or(Duration::from_secs(30), milliseconds)?,
            log: variable("RUST_LOG").parse_or(quiet(), |text| {
                text.parse().map_err(|_| "is not a filter such as info or liminal=debug")
            })?,
        };
        config.is_reachable_only_as_intended()?;
        Ok(config)
    }

    /// If so, traffic can be intercepted on the network.
    pub fn listens_beyond_this_machine(&self) -> bool {
        !self.host.is_loopback()
    }

    pub fn overrides(&self) -> Overrides {
        Overrides {
            claude_cmd: self.claude_command.clone(),
            codex_acp_cmd: self.codex_acp_command.clone(),
        }
    }

    fn is_reachable_only_as_intended(&self) -> Result<(), BadValue> {
        if self.listens_beyond_this_machine() && self.allowed_origins.is_empty() {
            return Err(BadValue {
                name: "--host",
                value: self.host.to_string(),
                problem: "can be reached from other machines; \
                          give the page's address with --allow-origin http://host:port"
                    .into(),
            });
        }
        Ok(())
    }
}

/// The data directory alone, for the commands that need nothing else.
pub fn data_dir(
    flag: Option<OsString>,
    env: &impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, BadValue> {
    let given =
        Given::flag("--data-dir", flag).or_else(|| Given::from_env("LIMINAL_DATA_DIR", env));
    let bad = |name, path: &Path, problem: &str| {
        Err(BadValue { name, value: path.display().to_string(), problem: problem.into() })
    };
    match given {
        // A path need not be UTF-8, so it is not parsed.
        Some(Given { name, value }) => {
            let path = PathBuf::from(value);
            std::path::absolute(&path).or_else(|_| bad(name, &path, "is not a path"))
        }
        None => match env("HOME").map(PathBuf::from) {
            Some(home) if home.is_absolute() => Ok(home.join(".liminal-builder")),
            Some(home) => {
                bad("HOME", &home, "is not an absolute path; choose a directory with --data-dir")
            }
            None => bad("HOME", Path::new(""), "is not set; choose a directory with --data-dir"),
        },
    }
}

fn quiet() -> Targets {
    Targets::new().with_default(tracing::Level::WARN)
}

fn resolve(text: &str) -> Result<IpAddr, String> {
    if let Ok(address) = text.trim_start_matches('[').trim_end_matches(']').parse() {
        return Ok(address);
    }
    let found = (text, 0).to_socket_addrs().map_err(|_| "is not an address of this machine")?;
    // `localhost` means 127.0.0.1, as in other programs.
    found
        .map(|address| address.ip())
        .min_by_key(IpAddr::is_ipv6)
        .ok_or_else(|| "has no address".into())
}

fn milliseconds(text: &str) -> Result<Duration, &'static str> {
    match text.parse() {
        Ok(0) | Err(_) => Err("is not a positive number of milliseconds"),
        Ok(millis) => Ok(Duration::from_millis(millis)),
    }
}

/// Only checked here: the catalogue splits it in the same way.
fn command(text: &str) -> Result<String, &'static str> {
    match shell_words::split(text) {
        Ok(words) if !words.is_empty() => Ok(text.to_owned()),
        Ok(_) => Err("is not a command"),
        Err(_) => Err("has an unclosed quote"),
    }
}

/// A value and where it came from.
struct Given {
    name: &'static str,
    value: OsString,
}

impl Given {
    fn flag(name: &'static str, value: Option<OsString>) -> Option<Self> {
        value.map(|value| Self { name, value })
    }

    /// An empty variable counts as not set.
    fn from_env(name: &'static str, env: &impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        Self::flag(name, env(name).filter(|value| !value.is_empty()))
    }

    fn parse<T, E: ToString>(
        self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, BadValue> {
        let bad = |problem: String| BadValue {
            name: self.name,
            value: self.value.to_string_lossy().into_owned(),
            problem,
        };
        let text = self.value.to_str().ok_or_else(|| bad("is not valid UTF-8".into()))?;
        parse(text).map_err(|problem| bad(problem.to_string()))
    }
}

trait MaybeGiven: Sized {
    fn parse_opt<T, E: ToString>(
        self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, BadValue>;
    fn parse_or<T, E: ToString>(
        self,
        default: T,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, BadValue> {
        Ok(self.parse_opt(parse)?.unwrap_or(default))
    }
}

impl MaybeGiven for Option<Given> {
    fn parse_opt<T, E: ToString>(
        self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, BadValue> {
        self.map(|given| given.parse(parse)).transpose()
    }
}
