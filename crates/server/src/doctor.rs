//! `liminal doctor`: what is in order on this machine, what is not, and what to type then. Changes nothing.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use liminal_agents::catalogue::{AgentEntry, Catalogue};
use liminal_agents::process::GuardCommand;

use crate::cli::{Stopped, say};
use crate::config::Config;
use crate::data_dir;
use crate::instance::Instance;
use crate::journal::{self, Examined};
use crate::{providers, search, store};

/// Prints the findings. An error when the program could not be started as things are; an agent that is missing is
/// none.
pub fn examine(config: &Config) -> Result<(), Stopped> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Stopped::because(format!("cannot start: {error}")))?;
    let mut is_well = true;
    let mut line = |what: &str, finding: Finding| {
        is_well &= finding.is_well;
        say(format_args!("{what:<16}{}", finding.words))
    };
    line("Data directory", data_directory(&config.data_dir))?;
    for trouble in store::troubles(&config.data_dir) {
        line("", Finding::bad(trouble.to_string()))?;
    }
    for file in [journal::FILE, search::FILE] {
        if let Some(found) = journal::examine(&config.data_dir.join(file)) {
            line(file, database(file, &found))?;
        }
    }
    line("Address", address(config))?;

    let catalogue =
        Catalogue::read(&config.data_dir, &config.overrides(), &providers::own_executable());
    for problem in catalogue.problems() {
        line("agents.json", Finding::bad(problem.to_string()))?;
    }
    say("\nAgents")?;
    runtime.block_on(async {
        let guard = GuardCommand::own_executable();
        for entry in catalogue.entries() {
            let (id, name, found) = (entry.cli_type.as_str(), &entry.name, agent(entry, &guard));
            say(format_args!("  {id:<14}{name:<18}{}", found.await))?;
        }
        Ok(())
    })?;
    if is_well { Ok(()) } else { Err(Stopped::because("something is not in order; see above")) }
}

struct Finding {
    words: String,
    is_well: bool,
}

impl Finding {
    fn good(words: impl Into<String>) -> Self {
        Self { words: words.into(), is_well: true }
    }

    fn bad(words: impl Into<String>) -> Self {
        Self { words: words.into(), is_well: false }
    }
}

fn data_directory(path: &Path) -> Finding {
    match data_dir::check(path) {
        Ok(Some(path)) => Finding::good(format!("{} is in order", path.display())),
        Ok(None) => Finding::good(format!("{} will be made at the first start", path.display())),
        Err(error) => Finding::bad(error.to_string()),
    }
}

fn database(file: &str, found: &Examined) -> Finding {
    let size = format!("{:.1} MB", found.bytes as f64 / 1e6);
    match &found.damage {
        None => Finding::good(format!("{size}, sound")),
        Some(damage) if file == search::FILE => {
            Finding::good(format!("{size}, damaged ({damage}); it is made anew by itself"))
        }
        Some(damage) => Finding::bad(format!(
            "{size}, damaged ({damage}); it is set aside at the next start. Restore a backup if you have one"
        )),
    }
}

fn address(config: &Config) -> Finding {
    let wanted = SocketAddr::new(config.host, config.port);
    if let Some(running) = Instance::running(&config.data_dir) {
        return Finding::good(format!("Liminal Builder is running at {running}"));
    }
    match TcpListener::bind(wanted) {
        Ok(_) if config.port == 0 => Finding::good(format!("any free port of {}", config.host)),
        Ok(_) => Finding::good(format!("http://{wanted} is free")),
        Err(error) => Finding::bad(crate::serve::why_not_listening(config, &error)),
    }
}

async fn agent(entry: &AgentEntry, guard: &GuardCommand) -> String {
    let Some(program) = entry.find() else {
        return match &entry.install {
            Some(command) => format!("not found; to install it: {command}"),
            None => format!(
                "not found: {}; install it, or correct agents.json",
                entry.program.to_string_lossy()
            ),
        };
    };
    match entry.version(guard).await {
        Some(version) => format!("{version}  ({})", program.display()),
        None => format!("found  ({})", program.display()),
    }
}
