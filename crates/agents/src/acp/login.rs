//! The ways to log in that an agent offers: what each needs, and the command to type in a terminal.

use liminal_contract::AuthMethod;
use serde_json::Value;

use crate::process::Launch;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Logins {
    pub methods: Vec<AuthMethod>,
    /// The ids of those that need nothing from the user.
    pub silent: Vec<String>,
}

/// A method with one of these words in its text opens a browser or asks for something.
const NEEDS_USER: [&str; 11] = [
    "log in",
    "login",
    "sign in",
    "sign-in",
    "oauth",
    "browser",
    "account",
    "subscription",
    "key",
    "token",
    "http",
];

impl Logins {
    /// Reads `authMethods` in the answer to `initialize`.
    pub fn read(answer: &Value, launch: &Launch) -> Self {
        let told = answer.get("authMethods").and_then(Value::as_array).into_iter().flatten();
        let mut logins = Self::default();
        for raw in told {
            let text = |key: &str| raw.get(key).and_then(Value::as_str).map(str::to_owned);
            let (Some(id), Some(name)) = (text("id"), text("name")) else { continue };
            let command = command(raw, launch);
            let method = AuthMethod { id, name, description: text("description"), command };
            if method.command.is_none() && needs_nothing(raw, &method, launch) {
                logins.silent.push(method.id.clone());
            }
            logins.methods.push(method);
        }
        logins
    }
}

/// The command of a method that runs in a terminal: its own, or the agent's with more arguments.
fn command(raw: &Value, launch: &Launch) -> Option<String> {
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (program, env) = match raw.pointer("/_meta/terminal-auth") {
        Some(own) => (vec![own.get("command")?.as_str()?.to_owned()], own),
        None if raw.get("type").and_then(Value::as_str) == Some("terminal") => {
            let words = std::iter::once(&launch.program).chain(&launch.args);
            (words.map(|word| word.to_string_lossy().into_owned()).collect(), raw)
        }
        None => return None,
    };
    let variables = env.get("env").and_then(Value::as_object).into_iter().flatten();
    let mut line: Vec<String> =
        variables.filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?))).collect();
    if !line.is_empty() {
        line.insert(0, "env".to_owned());
    }
    line.extend(program);
    line.extend(env.get("args").map(texts).unwrap_or_default());
    Some(shell_words::join(line))
}

/// Whether the agent can log in without the user: by variables that are set, or by a method that mentions nothing
/// the user would have to do.
fn needs_nothing(raw: &Value, method: &AuthMethod, launch: &Launch) -> bool {
    let own = |name: &str| launch.env.iter().any(|(known, _)| known == name);
    let is_set = |name: &str| own(name) || std::env::var_os(name).is_some();
    let listed = raw.get("vars").and_then(Value::as_array).into_iter().flatten();
    let required = listed.filter(|var| var.get("optional") != Some(&Value::Bool(true)));
    let mut names: Vec<&str> = required.filter_map(|var| var.get("name")?.as_str()).collect();
    let words = method.description.as_deref().unwrap_or_default();
    if names.is_empty() {
        let parts = words.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        names.extend(parts.filter(|word| word.contains('_') && *word == word.to_uppercase()));
    }
    if !names.is_empty() {
        return names.into_iter().all(is_set);
    }
    let text = format!("{} {} {words}", method.id, method.name).to_lowercase();
    !NEEDS_USER.iter().any(|word| text.contains(word))
}

/// The first command between backticks in an agent's words.
pub(crate) fn quoted_command(words: &str) -> Option<String> {
    words.split('`').nth(1).map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_way_in_through_a_terminal_has_its_command() {
        let launch = Launch::new("Agent", "agent", "/").args(["--acp"]);
        let own = json!({"command": "agent", "args": ["login", "--now please"]});
        let answer = json!({"authMethods": [
            {"id": "a", "name": "Own", "_meta": {"terminal-auth": own}},
            {"id": "b", "name": "Same", "type": "terminal", "args": ["--setup"], "env": {"A": "1"}},
        ]});
        let logins = Logins::read(&answer, &launch);
        let commands: Vec<_> = logins.methods.iter().map(|it| it.command.as_deref()).collect();
        assert_eq!(
            commands,
            [Some("agent login '--now please'"), Some("env 'A=1' agent --acp --setup")]
        );
        assert!(logins.silent.is_empty());
    }

    #[test]
    fn only_a_way_that_needs_nothing_is_taken_without_the_user() {
        let mut launch = Launch::new("Agent", "agent", "/");
        launch.env.push(("SOME_API_KEY".into(), "secret".into()));
        let answer = json!({"authMethods": [
            {"id": "key", "name": "Key", "description": "Requires the `SOME_API_KEY` variable"},
            {"id": "other", "name": "Key", "description": "Requires NO_SUCH_KEY_HERE"},
            {"id": "vars", "name": "Key", "type": "env_var", "vars": [{"name": "SOME_API_KEY"}]},
            {"id": "web", "name": "Log in with a browser"},
            {"id": "local", "name": "Local model"},
        ]});
        assert_eq!(Logins::read(&answer, &launch).silent, ["key", "vars", "local"]);
    }

    #[test]
    fn a_command_in_the_agents_words_is_found() {
        assert_eq!(quoted_command("Run `auggie login` first"), Some("auggie login".to_owned()));
        assert_eq!(quoted_command("Log in first"), None);
    }
}
