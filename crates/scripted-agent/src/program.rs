//! The program: arguments, script file, choice of face, exit code.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use crate::acp::AcpAgent;
use crate::brain::Brain;
use crate::demo::{self, Demo};
use crate::engine::say_on_stderr;
use crate::history::HistoryStore;
use crate::script::Script;
use crate::wire::Wire;

const USAGE: &str = "usage: liminal demo-agent [--script FILE] [--history DIR]";

/// Runs the agent with these arguments (without the program's own name). Without a script it is the demo.
pub fn agent_main(args: &[String]) -> ExitCode {
    exit_with(Arguments::read(args).and_then(|mut arguments| {
        let brain: Arc<dyn Brain> = match arguments.script()? {
            Some(script) => script,
            None => {
                arguments.history.get_or_insert_with(demo::memory);
                Arc::new(Demo::at_the_users_pace())
            }
        };
        arguments.speak(brain)
    }))
}

fn exit_with(ended: Result<ExitCode, String>) -> ExitCode {
    ended.unwrap_or_else(|words| {
        say_on_stderr(&words);
        ExitCode::from(2)
    })
}

#[derive(Debug, Default)]
struct Arguments {
    face: Option<String>,
    script: Option<PathBuf>,
    history: Option<PathBuf>,
    /// Arguments of the program that we imitate.
    rest: Vec<String>,
}

impl Arguments {
    fn read(args: &[String]) -> Result<Self, String> {
        let mut read = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (arg.as_str(), None),
            };
            let mut value = || value.clone().or_else(|| args.next().cloned()).ok_or(USAGE);
            match name {
                "--face" => read.face = Some(value()?),
                "--script" => read.script = Some(value()?.into()),
                "--history" => read.history = Some(value()?.into()),
                _ => read.rest.push(arg.clone()),
            }
        }
        Ok(read)
    }

    fn script(&self) -> Result<Option<Arc<dyn Brain>>, String> {
        let Some(path) = &self.script else { return Ok(None) };
        let text = fs::read_to_string(path)
            .map_err(|error| format!("could not read the script {}: {error}", path.display()))?;
        let script = Script::from_json(&text)
            .map_err(|error| format!("the script {} is invalid: {error}", path.display()))?;
        Ok(Some(Arc::new(script)))
    }

    fn speak(self, brain: Arc<dyn Brain>) -> Result<ExitCode, String> {
        let store = self.history.map_or_else(HistoryStore::nowhere, HistoryStore::at);
        match self.face.as_deref() {
            None | Some("acp") if self.rest.is_empty() => Ok(speak_acp(brain, store)),
            None | Some("acp") => {
                Err(format!("unknown argument: {}\n{USAGE}", self.rest.join(" ")))
            }
            #[cfg(feature = "claude")]
            Some("claude") => Ok(speak_claude(brain, &self.rest)),
            Some(face) => Err(format!("unknown face {face:?}\n{USAGE}")),
        }
    }
}

/// Speaks ACP on stdin and stdout until stdin ends.
fn speak_acp(brain: Arc<dyn Brain>, store: HistoryStore) -> ExitCode {
    let agent = AcpAgent::new(brain, store, Arc::new(Wire::stdout()));
    agent.launch();
    agent.serve(io::stdin().lock());
    ExitCode::SUCCESS
}

/// Speaks Claude's stream-json on stdin and stdout until stdin ends and the last turn has ended.
#[cfg(feature = "claude")]
fn speak_claude(brain: Arc<dyn Brain>, args: &[String]) -> ExitCode {
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGINT, SIGTERM};

    use crate::claude::{ClaudeAgent, ClaudeArguments};

    for (signal, code) in [(SIGTERM, 143), (SIGINT, 0)] {
        let always = Arc::new(AtomicBool::new(true));
        let _cannot = signal_hook::flag::register_conditional_shutdown(signal, code, always);
    }
    let wire = Arc::new(Wire::stdout());
    let arguments = ClaudeArguments::read(args);
    let agent = match ClaudeAgent::new(brain, &arguments, Arc::clone(&wire)) {
        Ok(agent) => agent,
        Err(unable) => {
            if let Some(message) = unable.message {
                wire.message(&message);
            }
            say_on_stderr(&unable.words);
            return ExitCode::FAILURE;
        }
    };
    agent.launch();
    agent.serve(io::stdin().lock())
}
