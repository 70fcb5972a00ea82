//! Finds a real agent, for the stories that need one.

#![allow(dead_code, reason = "no test file needs all of it")]

use std::ffi::OsString;

use liminal_agents::Picture;

/// Switches off the stories with real agents.
const WITHOUT: &str = "LIMINAL_TEST_WITHOUT_REAL_AGENTS";

/// The program that `variable` names. `None` only if the stories with real agents are switched off explicitly: a story
/// that did not run must not pass silently.
pub fn program(variable: &str) -> Option<OsString> {
    match (std::env::var_os(variable), std::env::var_os(WITHOUT)) {
        (Some(program), _) => Some(program),
        (None, Some(said)) if said == "1" => {
            eprintln!("Not played: {WITHOUT} is set and {variable} is not.");
            None
        }
        (None, _) => panic!(
            "This story needs the real agent. `scripts/test` installs the pinned one and plays it; or name one in \
             {variable}, or set {WITHOUT}=1 to do without."
        ),
    }
}

/// The smallest PNG, in base64.
pub const DOT: &str = concat!(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
);

/// A picture that is attached, or that the project has under this name.
pub fn picture(name: &str) -> Picture {
    Picture {
        name: name.to_owned(),
        uri: format!("file:///project/{name}"),
        mime_type: "image/png".to_owned(),
        data: DOT.to_owned(),
    }
}
