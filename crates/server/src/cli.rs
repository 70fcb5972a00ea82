//! The command line: which command, with which flags, and the one-line error when it fails.

mod backup;
mod import;
mod token;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use lexopt::prelude::{Long, Short, Value};

use self::import::Import;

use crate::config::{self, Config, Flags};
use crate::terminal::{Stopped, complain, say};
use crate::{doctor, serve};

const HELP: &str = "\
Liminal Builder: one page for all your coding agents.

Usage: liminal [serve] [flags]    start, and open the page in the browser
       liminal token [--rotate]   print the token; --rotate makes a new one and logs out every browser
       liminal doctor             check the setup and list the agents found
       liminal backup DIRECTORY   copy everything worth keeping into a new directory
       liminal import             keep sessions made in a terminal: of your projects, with --project DIR of one
                                  directory, with --all of every; --list only lists them
       liminal demo-agent         run the built-in agent on stdin and stdout; --script FILE plays your script
       liminal --help | --version

Flags (each overrides the variable beside it):
  --host ADDRESS          where to listen              LIMINAL_HOST      127.0.0.1
  --port PORT             0 picks a free one           LIMINAL_PORT      3000
  --data-dir DIRECTORY    where everything is kept     LIMINAL_DATA_DIR  ~/.liminal-builder
  --allow-origin ORIGIN   another address of the page, such as https://box.example (repeatable)
  --no-open               don't open the browser
  --dev                   serve the page from the checkout's client directory

More variables:
  LIMINAL_PERMISSIONS     ask (ask before acting, the default) or auto (approve everything)
  LIMINAL_IDLE_MS         stop an agent after it was idle for this long (600000)
  LIMINAL_RETRY_MS        restart a crashed agent after this long; each further wait doubles (1000)
  CLAUDE_CMD              the command that starts Claude Code (claude)
  CLAUDE_ACP_CMD          no longer used; set CLAUDE_CMD
  CODEX_ACP_CMD           the command that starts Codex (codex-acp)
  ACP_START_TIMEOUT_MS    how long an agent may take to start (60000)
  ACP_PROMPT_TIMEOUT_MS   show a notice when an agent was silent for this long (30000)
  RUST_LOG                what to log to stderr (warn)
";

#[derive(Debug, PartialEq, Eq)]
enum Command {
    Serve(Flags),
    Token { flags: Flags, rotate: bool },
    Doctor(Flags),
    Backup { flags: Flags, to: OsString },
    Import { flags: Flags, what: Import },
    Help,
    Version,
}

/// Runs the command given in this process's arguments.
pub fn run() -> ExitCode {
    if let Some(other_program) = other_program() {
        return other_program;
    }
    let outcome = match parse(env::args_os()) {
        Ok(command) => execute(command),
        Err(error) => Err(Stopped::usage(format!("{error}; see liminal --help"))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(stopped) => {
            complain(stopped.line);
            ExitCode::from(stopped.status)
        }
    }
}

/// This binary is also two other programs: the guard of an agent, entered before any thread starts, and the built-in
/// agent.
fn other_program() -> Option<ExitCode> {
    let mut args = env::args_os().skip(1);
    match args.next()?.to_str()? {
        "guard" => Some(liminal_agents::process::guard_main()),
        "demo-agent" => {
            let rest: Vec<String> =
                args.map(|argument| argument.to_string_lossy().into_owned()).collect();
            Some(liminal_scripted_agent::agent_main(&rest))
        }
        _ => None,
    }
}

fn execute(command: Command) -> Result<(), Stopped> {
    let variables = |name: &str| env::var_os(name);
    match command {
        Command::Help => say(HELP.trim_end()),
        Command::Version => say(concat!("liminal ", env!("CARGO_PKG_VERSION"))),
        Command::Token { flags, rotate } => {
            let data_dir = config::data_dir(flags.data_dir, &variables).map_err(Stopped::usage)?;
            say(token::token(&data_dir, rotate)?)
        }
        Command::Doctor(flags) => {
            let config = Config::read(flags, &variables).map_err(Stopped::usage)?;
            doctor::examine(&config)
        }
        Command::Backup { flags, to } => {
            let data_dir = config::data_dir(flags.data_dir, &variables).map_err(Stopped::usage)?;
            say(backup::backup(&data_dir, to.as_ref())?)
        }
        Command::Import { flags, what } => {
            let config = Config::read(flags, &variables).map_err(Stopped::usage)?;
            import::import(config, what)
        }
        Command::Serve(flags) => {
            let config = Config::read(flags, &variables).map_err(Stopped::usage)?;
            serve::serve(config)
        }
    }
}

fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, lexopt::Error> {
    let mut parser = lexopt::Parser::from_iter(args);
    let (mut flags, mut name, mut rotate) = (Flags::default(), None::<String>, false);
    let (mut to, mut what) = (None, Import::default());
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(Command::Help),
            Long("version") | Short('V') => return Ok(Command::Version),
            Long("host") => flags.host = Some(parser.value()?),
            Long("port") => flags.port = Some(parser.value()?),
            Long("data-dir") => flags.data_dir = Some(parser.value()?),
            Long("allow-origin") => flags.allow_origin.push(parser.value()?),
            Long("no-open") => flags.no_open = true,
            Long("dev") => flags.dev = true,
            Long("rotate") if name.as_deref() == Some("token") => rotate = true,
            Long("all") if name.as_deref() == Some("import") => what.all = true,
            Long("list") if name.as_deref() == Some("import") => what.list = true,
            Long("project") if name.as_deref() == Some("import") => {
                what.project = Some(parser.value()?.into());
            }
            Value(value) if name.is_none() => name = Some(value.to_string_lossy().into_owned()),
            Value(value) if name.as_deref() == Some("backup") && to.is_none() => to = Some(value),
            _ => return Err(argument.unexpected()),
        }
    }
    match name.as_deref() {
        None | Some("serve") => Ok(Command::Serve(flags)),
        Some("doctor") => Ok(Command::Doctor(flags)),
        Some("backup") => match to {
            Some(to) => Ok(Command::Backup { flags, to }),
            None => Err("backup needs the path of a new directory".to_owned().into()),
        },
        Some("import") => Ok(Command::Import { flags, what }),
        Some("token") => Ok(Command::Token { flags, rotate }),
        Some(other) => Err(format!("unknown command {other:?}").into()),
    }
}
