//! Where a real agent is, for the stories that are nothing without one.

use std::ffi::OsString;

/// Says that the stories with real agents are not to be played.
const WITHOUT: &str = "LIMINAL_TEST_WITHOUT_REAL_AGENTS";

/// The program that `variable` names. `None` only where somebody said that they do without: a story that was not
/// played must not pass unseen.
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
