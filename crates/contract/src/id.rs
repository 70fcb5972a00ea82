//! Identifiers. Nothing outside this module parses a session id.

use std::fmt;

use serde::{Deserialize, Serialize};

/// In characters.
const MAX_SESSION_ID: usize = 200;

/// Why a string is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidId(&'static str);

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for InvalidId {}

/// Ids that are opaque to all code except the one that mints them.
macro_rules! opaque_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
        pub struct $name(String);

        impl $name {
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

opaque_id! {
    /// A UUID.
    ProjectId
}
opaque_id! {
    /// A UUIDv7, minted by us.
    TurnId
}
opaque_id! {
    ItemId
}

impl ItemId {
    /// The user's message in a turn.
    pub fn user(turn: &TurnId) -> Self {
        Self(format!("{turn}:user"))
    }

    /// One block of one of the agent's messages in a turn, both counted from 0.
    pub fn block(turn: &TurnId, message: usize, block: usize) -> Self {
        Self(format!("{turn}:{message}:{block}"))
    }

    /// A tool call, by the agent's own id.
    pub fn call(turn: &TurnId, call_id: &str) -> Self {
        Self(format!("{turn}:call:{call_id}"))
    }

    /// The `n`th permission of a turn.
    pub fn ask(turn: &TurnId, n: usize) -> Self {
        Self(format!("{turn}:ask:{n}"))
    }

    /// A turn has at most one plan, updated in place.
    pub fn plan(turn: &TurnId) -> Self {
        Self(format!("{turn}:plan"))
    }

    /// A message of the user's that the agent took up in a turn that was already running.
    pub fn steered(turn: &TurnId, message: &str) -> Self {
        Self(format!("{turn}:{message}"))
    }

    /// The `n`th notice of a turn, or what else nobody said.
    pub fn note(turn: &TurnId, n: usize) -> Self {
        Self(format!("{turn}:note:{n}"))
    }
}

/// The id of an agent: `claude-code`, `codex`, or one from `agents.json`. Has no colon.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
pub struct CliType(String);

impl CliType {
    /// Accepts 1 to 64 characters of `[A-Za-z0-9._-]`.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        if text.is_empty() || text.len() > 64 {
            return Err(InvalidId("an agent id has 1 to 64 characters"));
        }
        if !text.bytes().all(|b| is_id_byte(b) && b != b':') {
            return Err(InvalidId("an agent id is made of letters, digits, '.', '_' and '-'"));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CliType {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        Self::parse(&text)
    }
}

impl From<CliType> for String {
    fn from(id: CliType) -> Self {
        id.0
    }
}

impl fmt::Display for CliType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `{cliType}:{id}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
pub struct SessionId(String);

impl SessionId {
    /// Fails if the two parts don't make a valid session id.
    pub fn new(cli_type: &CliType, id: &str) -> Result<Self, InvalidId> {
        Self::parse(&format!("{cli_type}:{id}"))
    }

    /// Accepts `{cliType}:{id}`, at most 200 characters of `[A-Za-z0-9._:-]`, split at the first colon.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        if text.len() > MAX_SESSION_ID {
            return Err(InvalidId("a session id has at most 200 characters"));
        }
        if !text.bytes().all(is_id_byte) {
            return Err(InvalidId(
                "a session id is made of letters, digits, '.', '_', ':' and '-'",
            ));
        }
        match text.split_once(':') {
            Some((cli_type, id)) if !id.is_empty() => CliType::parse(cli_type)?,
            _ => return Err(InvalidId("a session id has the form agent:id")),
        };
        Ok(Self(text.to_owned()))
    }

    pub fn cli_type(&self) -> CliType {
        CliType(self.0[..self.colon()].to_owned())
    }

    /// The part after the first colon. The agent knows the session by it, unless the session has its own `agentRef`.
    pub fn local(&self) -> &str {
        &self.0[self.colon() + 1..]
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Both constructors make sure that there is a colon.
    fn colon(&self) -> usize {
        self.0.find(':').unwrap_or_default()
    }
}

impl TryFrom<String> for SessionId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        Self::parse(&text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_id_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_splits_at_its_first_colon() {
        let id = SessionId::parse("codex:a:b").unwrap();
        assert_eq!((id.cli_type().as_str(), id.local()), ("codex", "a:b"));
    }

    #[test]
    fn what_is_not_a_session_id_is_refused() {
        for text in [
            "",
            "codex",
            "codex:",
            ":x",
            "co dex:x",
            "codex:ü",
            "codex:../x",
            "codex:\n",
            &format!("codex:{}", "x".repeat(195)),
        ] {
            assert!(SessionId::parse(text).is_err(), "{text:?}");
        }
        assert!(serde_json::from_str::<SessionId>("\"codex\"").is_err());
        assert!(SessionId::parse(&format!("codex:{}", "x".repeat(194))).is_ok());
    }

    #[test]
    fn an_agent_id_has_no_colon() {
        assert!(CliType::parse("a:b").is_err());
        assert!(CliType::parse("").is_err());
        assert_eq!(CliType::parse("claude-code").unwrap().as_str(), "claude-code");
    }
}
