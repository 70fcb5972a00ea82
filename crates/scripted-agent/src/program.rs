//! The program: arguments, the script file, which face, and how the process ends.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::acp::AcpAgent;
use crate::brain::Brain;
use crate::claude::{ClaudeAgent, ClaudeArguments};
use crate::demo::{self, Demo};
use crate::engine::say_on_stderr;
use crate::history::HistoryStore;
use crate::script::Script;
use crate::wire::Wire;

const USAGE: &str = "usage: scripted-agent acp --script FILE [--history DIR]\n       scripted-agent claude --script FILE [arguments of claude]\n       liminal demo-agent [--face acp|claude] [--script FILE] [--history DIR]";

/// Runs `scripted-agent` with these arguments (without the program's own name).
pub fn scripted_main(args: &[String]) -> ExitCode {
    let (face, args) = args.split_first().map_or(("", args), |(face, args)| (face.as_str(), args));
    told(Arguments::read(args).and_then(|arguments| {
        let brain = arguments.script()?.ok_or(USAGE)?;
        arguments.speak(face, brain)
    }))
}

/// Runs `liminal demo-agent` with these arguments: `[--face acp|claude] [--script FILE] [--history DIR]` and what
/// `claude` would be told. Without a script it is the demo.
pub fn demo_main(args: &[String]) -> ExitCode {
    told(Arguments::read(args).and_then(|mut arguments| {
        let brain: Arc<dyn Brain> = match arguments.script()? {
            Some(script) => script,
            None => {
                arguments.history.get_or_insert_with(demo::memory);
                Arc::new(Demo::at_the_users_pace())
            }
        };
        let face = arguments.face.clone().unwrap_or_else(|| "acp".into());
        arguments.speak(&face, brain)
    }))
}

fn told(ended: Result<ExitCode, String>) -> ExitCode {
    ended.unwrap_or_else(|words| {
        say_on_stderr(&words);
        ExitCode::from(2)
    })
}

/// What the program was told.
#[derive(Debug, Default)]
struct Arguments {
    face: Option<String>,
    script: Option<PathBuf>,
    history: Option<PathBuf>,
    /// What is for the program that is played.
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
            .map_err(|error| format!("the script {} is not one: {error}", path.display()))?;
        Ok(Some(Arc::new(script)))
    }

    fn speak(self, face: &str, brain: Arc<dyn Brain>) -> Result<ExitCode, String> {
        let store = self.history.map_or_else(HistoryStore::nowhere, HistoryStore::at);
        match face {
            "acp" if self.rest.is_empty() => Ok(speak_acp(brain, store)),
            "acp" => Err(format!("{}: unknown\n{USAGE}", self.rest.join(" "))),
            "claude" => Ok(speak_claude(brain, &self.rest)),
            face => Err(format!("there is no face {face:?}\n{USAGE}")),
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

/// Speaks Claude's stream-json on stdin and stdout until stdin ends and the last turn is done.
fn speak_claude(brain: Arc<dyn Brain>, args: &[String]) -> ExitCode {
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
