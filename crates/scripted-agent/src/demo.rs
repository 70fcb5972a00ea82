//! The demo: an agent a newcomer can talk to with nothing installed. It shows what the product can do by doing it,
//! really and in the project's directory, and asks before it writes or runs anything.
//!
//! It is a [`Brain`] like a script is; the faces don't know the difference.

mod acts;
mod survey;
mod wish;

use std::fs;
use std::path::{Path, PathBuf};

use crate::brain::{Brain, Prompt};
use crate::script::{About, SlashCommand, Step, Steps, UsageFact, act};
use acts::Acts;
use wish::Wish;

/// How many conversations the demo remembers.
const REMEMBERED: usize = 200;

/// The demo's mind.
#[derive(Debug)]
pub(crate) struct Demo {
    about: About,
    acts: Acts,
}

impl Demo {
    /// `pace` is in percent of a lifelike one; 0 is at once.
    pub(crate) fn new(pace: u64) -> Self {
        let about = About {
            name: "liminal-demo".into(),
            title: "Demo (built in)".into(),
            model: "demo".into(),
            terminal_meta: true,
            commands: vec![SlashCommand {
                name: "help".into(),
                description: "What the demo can do".into(),
            }],
            ..About::default()
        };
        Self { about, acts: Acts::new(pace) }
    }

    /// The pace the environment asks for: `LIMINAL_DEMO_PACE`, in percent.
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
            Wish::Tour => acts.tour(),
            Wish::Unknown if prompt.turn <= 1 => acts.tour(),
            Wish::Unknown => acts.shrug(&prompt.text, prompt.turn),
            Wish::List => acts.list(&prompt.cwd),
            Wish::Read(file) => acts.read(&prompt.cwd, &file),
            Wish::Edit => acts.edit(&prompt.cwd),
            Wish::Run(command) => acts.run(command.as_deref()),
            Wish::Think => acts.think(),
            Wish::Plan => acts.plan(&prompt.cwd),
            Wish::Long => acts.long(),
            Wish::Ask => acts.ask(&prompt.cwd),
            Wish::Diff => acts.diff(),
            Wish::Colours => acts.colours(),
            Wish::Picture => acts.picture(),
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

/// Where the demo's conversations outlive it: `LIMINAL_DEMO_DIR`, else the user's place for such things.
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

/// A demo is for looking around: its memory needn't grow for ever.
fn forget_the_oldest(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let surplus = files.len().saturating_sub(REMEMBERED);
    for (_, path) in files.into_iter().take(surplus) {
        let _gone_already = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests;
