//! The mark in the environment of every process we start. It identifies our processes once their guard is gone.

use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The environment variable. A process meant to outlive us must not inherit it.
pub const NAME: &str = "LIMINAL_GUARD";

/// Prefix of a guard's own value. Its agent has the same value without the prefix.
const OF_GUARD: &str = "guard:";

/// Prefix where there is no guard.
const UNGUARDED: &str = "unguarded:";

/// Identifies the server that started a process. Random, so that marks never collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ServerMark(Uuid);

impl ServerMark {
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// Name and value of the variable for a program that runs without a guard, such as git with the user's hooks. If
    /// this server is killed, the next one ends what is left of it, but for what made a session of its own: a hook may
    /// start what is meant to stay.
    pub fn unguarded(self) -> (&'static str, OsString) {
        (NAME, LaunchMark::of(self).value(Bearer::Unguarded))
    }
}

impl fmt::Display for ServerMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ServerMark {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// One start of a program by one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LaunchMark {
    pub server: ServerMark,
    launch: Uuid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bearer {
    Guard,
    /// The program, or one of its descendants.
    Guarded,
    /// The same of a program without a guard.
    Unguarded,
}

impl LaunchMark {
    pub fn of(server: ServerMark) -> Self {
        Self { server, launch: Uuid::new_v4() }
    }

    /// Name and value of the variable.
    pub fn variable(&self, bearer: Bearer) -> (OsString, OsString) {
        (NAME.into(), self.value(bearer))
    }

    fn value(&self, bearer: Bearer) -> OsString {
        let prefix = match bearer {
            Bearer::Guard => OF_GUARD,
            Bearer::Guarded => "",
            Bearer::Unguarded => UNGUARDED,
        };
        format!("{prefix}{}/{}", self.server, self.launch).into()
    }

    /// From one `NAME=value` entry of an environment.
    #[cfg(any(target_os = "linux", test))]
    pub fn parse(entry: &[u8]) -> Option<(Bearer, Self)> {
        let value = entry.strip_prefix(NAME.as_bytes())?.strip_prefix(b"=")?;
        let value = std::str::from_utf8(value).ok()?;
        let (bearer, value) = if let Some(value) = value.strip_prefix(OF_GUARD) {
            (Bearer::Guard, value)
        } else if let Some(value) = value.strip_prefix(UNGUARDED) {
            (Bearer::Unguarded, value)
        } else {
            (Bearer::Guarded, value)
        };
        let (server, launch) = value.split_once('/')?;
        let mark = Self { server: server.parse().ok()?, launch: launch.parse().ok()? };
        Some((bearer, mark))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_mark_reads_back_and_nothing_else_is_one() {
        let mark = LaunchMark::of(ServerMark::random());
        for bearer in [Bearer::Guard, Bearer::Guarded, Bearer::Unguarded] {
            let (name, value) = mark.variable(bearer);
            let entry = [name.as_bytes(), value.as_bytes()].join(&b'=');
            assert_eq!(LaunchMark::parse(&entry), Some((bearer, mark)));
            assert_eq!(LaunchMark::parse(&entry[..entry.len() - 1]), None);
            assert_eq!(LaunchMark::parse(&entry[1..]), None);
        }
        assert_eq!(LaunchMark::parse(b"LIMINAL_GUARD="), None);
        assert_eq!(LaunchMark::parse(b"LIMINAL_GUARD=\xff"), None);
    }
}
