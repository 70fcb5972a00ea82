//! The demo: an agent that new users can talk to with nothing installed. It shows the product by really working in
//! the project's directory, and asks before it writes or runs anything.
//!
//! It is a [`Brain`], as a script is; the faces don't know the difference.

mod acts;
mod flow;
mod survey;
mod wish;

use std::fs;
use std::path::{Path, PathBuf};

use crate::brain::{Brain, Prompt};
use crate::script::{
    About, AgentOption, ScriptedServer, SlashCommand, Step, Steps, UsageFact, act,
};
use acts::Acts;
use wish::Wish;

const MOST_REMEMBERED: usize = 200;

#[derive(Debug)]
pub(crate) struct Demo {
    about: About,
    acts: Acts,
}

impl Demo {
    /// `pace` is in percent of a lifelike pace; 0 means no pauses.
    pub(crate) fn new(pace: u64) -> Self {
        let about = About {
            name: "liminal-demo".into(),
            title: "Demo (built in)".into(),
            model: "demo".into(),
            terminal_meta: true,
            steering: true,
            commands: [
                ("help", "What the demo can do"),
                ("compact", "Replaces the conversation so far with a summary"),
                ("plan", "Work along a plan"),
                ("edit", "Change a file, after asking"),
                ("background", "Start a task that runs beside the conversation"),
                ("form", "Ask you to fill in a form"),
                ("diff", "Show a change"),
                ("think", "Think aloud before answering"),
                ("long", "A long answer"),
            ]
            .map(|(name, description)| SlashCommand {
                name: name.into(),
                description: description.into(),
            })
            .to_vec(),
            options: options(),
            mcp: servers(),
            ..About::default()
        };
        Self { about, acts: Acts::new(pace) }
    }

    /// `LIMINAL_DEMO_PACE`, in percent, sets the pace.
    pub(crate) fn at_the_users_pace() -> Self {
        let pace = std::env::var("LIMINAL_DEMO_PACE").ok().and_then(|pace| pace.parse().ok());
        Self::new(pace.unwrap_or(100))
    }
}

impl Brain for Demo {
    fn about(&self) -> &About {
        &self.about
    }

    fn answer(&self, prompt: &Prompt) -> Vec<Step> {
        let acts = &self.acts;
        let steps = match Wish::of(&prompt.text) {
            _ if !prompt.attached.is_empty() => acts.received(&prompt.text, &prompt.attached),
            Wish::Tour => acts.tour(),
            Wish::Unknown if prompt.turn <= 1 => acts.tour(),
            Wish::Unknown => acts.shrug(&prompt.text, prompt.turn),
            Wish::List => acts.list(&prompt.cwd),
            Wish::Read(file) => acts.read(&prompt.cwd, &file),
            Wish::Edit => acts.edit(&prompt.cwd),
            Wish::Run(command) => acts.run(command.as_deref()),
            Wish::Think => acts.think(),
            Wish::Plan => acts.plan(&prompt.cwd),
            Wish::PlanMode => acts.plan_mode(),
            Wish::Compact => acts.compact(prompt.turn),
            Wish::Long => acts.long(),
            Wish::Ask => acts.ask(&prompt.cwd),
            Wish::Form => acts.form(),
            Wish::Page => acts.page(prompt.turn),
            Wish::Diff => acts.diff(),
            Wish::Colours => acts.colours(),
            Wish::Picture => acts.picture(),
            Wish::Background => acts.background(prompt.turn),
            Wish::Remind => acts.remind(),
            Wish::Wait => acts.wait(),
            Wish::Fail => acts.fail(),
            Wish::Crash => acts.crash(),
        };
        let used = 1_850 * u64::from(prompt.turn);
        let usage = Step::Usage(UsageFact { used, size: 200_000, cost_usd: None });
        act().step(usage).into_steps().into_iter().chain(steps.into_steps()).collect()
    }
}

/// One of each kind, so that all of them can be tried. Only the mode changes what the demo does.
fn options() -> Vec<AgentOption> {
    let mut mode = AgentOption::new(
        "mode",
        "Mode",
        "mode",
        &[("ask", "Ask before acting"), ("auto", "Act without asking")],
    );
    mode.choices[0].description = Some("Asks before it writes a file or runs a command.".into());
    mode.choices[1].description = Some("Writes files and runs commands at once.".into());
    let mut model = AgentOption::new(
        "model",
        "Model",
        "model",
        &[("large", "Demo Large"), ("small", "Demo Small")],
    );
    model.choices[0].description = Some("Knows its script by heart.".into());
    model.choices[1].description = Some("Knows the same script.".into());
    let effort = [("low", "Low"), ("medium", "Medium"), ("high", "High")];
    let effort = AgentOption::new("effort", "Effort", "thought_level", &effort);
    vec![mode, model, effort, AgentOption::new("concise", "Concise", "other", &[])]
}

/// One that works and one that doesn't. Neither has a process: the demo needs nothing installed.
fn servers() -> Vec<ScriptedServer> {
    let server = |name: &str, tools, error: Option<&str>| ScriptedServer {
        name: name.into(),
        tools,
        config: serde_json::Value::Null,
        error: error.map(str::to_owned),
    };
    let error = "This server of the demo never starts, so that you can see how that looks.";
    vec![server("almanac", 3, None), server("oracle", 0, Some(error))]
}

/// Where the demo keeps its conversations: `LIMINAL_DEMO_DIR`, else the user's state directory.
pub(crate) fn memory() -> PathBuf {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let dir = var("LIMINAL_DEMO_DIR").map(PathBuf::from).unwrap_or_else(|| {
        let state = var("XDG_STATE_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(var("HOME")?).join(".local/state")))
            .unwrap_or_else(std::env::temp_dir);
        state.join("liminal-builder/demo")
    });
    forget_the_oldest(&dir);
    dir
}

/// A demo is for looking around: its memory needn't grow without limit.
fn forget_the_oldest(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let surplus = files.len().saturating_sub(MOST_REMEMBERED);
    for (_, path) in files.into_iter().take(surplus) {
        let _gone_already = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests;
