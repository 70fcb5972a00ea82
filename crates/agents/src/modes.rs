//! Which of an agent's modes ask before acting. Agents don't report this, so it is known by name.

use liminal_contract::{Asks, OptionCategory, OptionValue, SessionOption};
use liminal_stream::SessionFact;

use crate::Output;

/// Parts of the names of modes in which agents act without asking.
const SKIPPING: [&str; 7] =
    ["acceptedits", "auto", "bypass", "dontask", "fullaccess", "unrestricted", "yolo"];

/// Whether an agent asks in this mode. `ask_mode` is the one in which it is known to ask.
fn asks_in(mode: &str, ask_mode: Option<&str>) -> Asks {
    let plain: String = mode.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    match plain.as_str() {
        // Claude Code edits files of the project without asking in the one, codex in the other.
        "acceptedits" | "workspacewrite" => Asks::OutsideWorkspace,
        "plan" | "readonly" => Asks::Always,
        _ if ask_mode == Some(mode) => Asks::Always,
        _ if ask_mode.is_some() || SKIPPING.iter().any(|name| plain.contains(name)) => {
            Asks::AgentDecides
        }
        _ => Asks::Always,
    }
}

/// The facts of a list of options: the list, with the choices marked that skip questions, and whether the agent asks.
pub(crate) fn facts(mut options: Vec<SessionOption>, ask_mode: Option<&str>) -> Vec<Output> {
    let mode = options.iter_mut().find(|option| option.category == OptionCategory::Mode);
    let asks = match mode {
        Some(mode) => {
            for choice in &mut mode.choices {
                choice.skips_questions = asks_in(&choice.value, ask_mode) != Asks::Always;
            }
            match &mode.value {
                OptionValue::Choice(current) => Some(asks_in(current, ask_mode)),
                OptionValue::Flag(_) => None,
            }
        }
        None => ask_mode.map(|_| Asks::AgentDecides),
    };
    let asks = asks.map(SessionFact::Asks);
    [SessionFact::Options(options)].into_iter().chain(asks).map(Output::Fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_asks_only_if_that_is_known() {
        for (mode, ask_mode, asks) in [
            ("default", None, Asks::Always),
            ("build", None, Asks::Always),
            ("plan", Some("default"), Asks::Always),
            ("acceptEdits", None, Asks::OutsideWorkspace),
            ("workspace-write", Some("read-only"), Asks::OutsideWorkspace),
            ("workspace-write", Some("workspace-write"), Asks::OutsideWorkspace),
            ("read-only", Some("read-only"), Asks::Always),
            ("agent", Some("read-only"), Asks::AgentDecides),
            ("agent-full-access", None, Asks::AgentDecides),
            ("auto_edit", None, Asks::AgentDecides),
            ("yolo", None, Asks::AgentDecides),
        ] {
            assert_eq!(asks_in(mode, ask_mode), asks, "{mode} {ask_mode:?}");
        }
    }
}
