//! `liminal doctor`: checks the setup on this machine and says how to fix problems. Changes nothing.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use liminal_agents::catalogue::{AgentEntry, Catalogue};
use liminal_agents::process::GuardCommand;

use crate::config::Config;
use crate::data_dir;
use crate::door::DoorFile;
use crate::instance::Instance;
use crate::journal::{self, Examined};
use crate::outside::Outside;
use crate::projects::ProjectsFile;
use crate::store::RefsFile;
use crate::terminal::{Stopped, say, sessions};
use crate::workspaces::Discarded;
use crate::{providers, search, store, workspaces};

/// Prints the findings. Fails when the server could not start as things are; a missing agent is no failure.
pub fn examine(config: &Config) -> Result<(), Stopped> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Stopped::because(format!("cannot start: {error}")))?;
    let mut is_ok = true;
    let mut line = |what: &str, finding: Finding| {
        is_ok &= finding.is_ok;
        say(format_args!("{what:<16}{}", finding.text))
    };
    line("Data directory", data_directory(&config.data_dir))?;
    for trouble in store::troubles::<ProjectsFile, DoorFile>(&config.data_dir) {
        line("", Finding::bad(trouble.to_string()))?;
    }
    for file in [journal::FILE, search::FILE] {
        if let Some(found) = journal::examine(&config.data_dir.join(file)) {
            line(file, database(file, &found))?;
        }
    }
    for worktree in workspaces::existing(&config.data_dir) {
        line("Worktree", Finding::good(worktree.display().to_string()))?;
    }
    let discarded = Discarded::beside(&config.data_dir);
    for about in discarded.read() {
        line("Discarded", Finding::good(about.words(&discarded)))?;
    }
    line("Address", address(config))?;

    let catalogue =
        Catalogue::read(&config.data_dir, &config.overrides(), &providers::own_executable());
    for problem in catalogue.problems() {
        line("Your agents", Finding::bad(problem.to_string()))?;
    }
    if let Some(finding) = outside(config, &catalogue) {
        line("Terminal", finding)?;
    }
    say("\nAgents")?;
    runtime.block_on(async {
        let guard = GuardCommand::own_executable();
        for entry in catalogue.entries().iter().filter(|entry| entry.is_offered()) {
            let (id, name, found) = (entry.cli_type.as_str(), &entry.name, agent(entry, &guard));
            say(format_args!("  {id:<14}{name:<18}{}", found.await))?;
        }
        Ok(())
    })?;
    if is_ok { Ok(()) } else { Err(Stopped::because("something needs fixing; see above")) }
}

struct Finding {
    text: String,
    is_ok: bool,
}

impl Finding {
    fn good(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_ok: true }
    }

    fn bad(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_ok: false }
    }
}

fn data_directory(path: &Path) -> Finding {
    match data_dir::check(path) {
        Ok(Some(path)) => Finding::good(format!("{} is fine", path.display())),
        Ok(None) => Finding::good(format!("{} will be created on first start", path.display())),
        Err(error) => Finding::bad(error.to_string()),
    }
}

fn database(file: &str, found: &Examined) -> Finding {
    let size = format!("{:.1} MB", found.bytes as f64 / 1e6);
    match &found.damage {
        None => Finding::good(format!("{size}, intact")),
        Some(damage) if file == search::FILE => {
            Finding::good(format!("{size}, damaged ({damage}); it is rebuilt automatically"))
        }
        Some(damage) => Finding::bad(format!(
            "{size}, damaged ({damage}); the next start sets it aside. Restore a backup if you have one"
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

/// Sessions made in a terminal that their agent deletes soon.
fn outside(config: &Config, catalogue: &Catalogue) -> Option<Finding> {
    let data_dir = &config.data_dir;
    let mut ours: HashSet<_> = store::listed_ids(data_dir).ok()?.into_iter().collect();
    ours.extend(RefsFile::open(data_dir).all());
    let seen = Outside::new(catalogue, data_dir).found_now(&ours, Vec::new());
    let due = seen.iter().filter(|seen| seen.deleted_at.is_some()).count();
    let text = match (seen.len(), due) {
        (0, _) => return None,
        (all, 0) => {
            format!("{} not here yet; `liminal import --list` lists them", sessions(all))
        }
        (all, due) => format!(
            "{} not here yet, {due} due for deletion within a week (cleanupPeriodDays in Claude \
             Code's settings). `liminal import --all` keeps them",
            sessions(all)
        ),
    };
    Some(Finding::good(text))
}

async fn agent(entry: &AgentEntry, guard: &GuardCommand) -> String {
    let Some(program) = entry.find() else {
        return match &entry.install {
            Some(command) => format!("not found; install it with: {command}"),
            None => format!(
                "not found: {}; install it, or fix its entry in agents.json",
                entry.program.to_string_lossy()
            ),
        };
    };
    match entry.version(guard).await {
        Some(version) => format!("{version}  ({})", program.display()),
        None => format!("found  ({})", program.display()),
    }
}
