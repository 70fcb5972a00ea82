//! The steps the demo takes for each wish.

mod controls;

use std::fs;
use std::path::{Component, Path};

use serde_json::json;

use super::flow::unwrapped;
use super::survey::{Survey, entries, size};
use crate::script::{Act, Choice, PlanStatus, Question, Step, Steps, Tool, act, answered};

const TOUR: &str = include_str!("texts/tour.md");
const WISHES: &str = include_str!("texts/wishes.md");
const LONG: &str = include_str!("texts/long.md");
const RIDDLE_THINKING: &str = include_str!("texts/riddle-thinking.md");
const RIDDLE: &str = include_str!("texts/riddle.md");
const PICTURE: &str = include_str!("texts/door.png.base64");

/// The file the demo writes, with permission.
const NOTE: &str = "liminal-demo.md";
/// The default command: slow enough to watch, and in colour.
const SHOW: &str = r#"for n in 1 2 3 4 5; do printf '\033[3%sm●\033[0m step %s of 5\n' "$n" "$n"; sleep 0.4; done
printf '\033[1mdone\033[0m on %s\n' "$(uname -s)""#;

#[derive(Debug)]
pub(super) struct Acts {
    /// In percent of a lifelike pace.
    pace: u64,
}

impl Acts {
    pub(super) fn new(pace: u64) -> Self {
        Self { pace }
    }

    pub(super) fn tour(&self) -> Act {
        let plan = |done: usize| {
            plan(&["Say hello", "Show what this page can do", "Let you try it"], done)
        };
        let act = self.think_aloud(
            act().step(plan(0)),
            "This looks like a first visit. I should say who I am, show what this page can do, \
             and then get out of the way.",
        );
        let (hello, rest) = TOUR.split_once("\n## ").unwrap_or((TOUR, ""));
        let act = self.say(act, hello).step(plan(1));
        let (show, offer) = rest.split_once("\n## Now you").unwrap_or((rest, ""));
        let act = self.say(act, &format!("\n## {show}")).step(plan(2));
        self.say(act, &format!("\n## Now you{offer}{WISHES}")).step(plan(3))
    }

    /// For a message with attachments: tells what arrived.
    pub(super) fn received(&self, text: &str, attached: &[String]) -> Act {
        let list: String = attached.iter().map(|what| format!("- {what}\n")).collect();
        let first: String = text.lines().next().unwrap_or_default().chars().take(120).collect();
        let quote = if first.is_empty() { first } else { format!("> {first}\n\n") };
        let answer = format!(
            "{quote}I got your message with:\n\n{list}\nA real agent would look at it. I only count."
        );
        self.say(act(), &answer)
    }

    /// For a message the demo has no answer to.
    pub(super) fn shrug(&self, text: &str, turn: u32) -> Act {
        const TIPS: [&str; 4] = [
            "Open a second session: both keep working at the same time.",
            "Reload the page while I'm writing. You won't miss a word.",
            "Click a tool call to show or hide its output.",
            "Drafts are kept: type half a message, switch to another session, and come back.",
        ];
        let first = text.lines().next().unwrap_or_default();
        let quote: String = first.chars().take(120).collect();
        let tip = TIPS[turn as usize % TIPS.len()];
        let answer = format!(
            "> {quote}\n\nA real agent would know what to do with that. I only have my script:\n\n\
             {WISHES}\n**Tip:** {tip}"
        );
        self.say(act(), &answer)
    }

    pub(super) fn list(&self, project: &Path) -> Act {
        let entries = entries(project);
        let listing: String = entries
            .iter()
            .map(|entry| match entry.is_dir {
                true => format!("{}/\n", entry.name),
                false => format!("{:<40} {:>10}\n", entry.name, size(entry.bytes)),
            })
            .collect();
        let act = act()
            .tool(tool("list", "LS", "List the project's files", "search", json!({"path": "."})))
            .pause(self.ms(400))
            .tool_done("list", &listing);
        let (dirs, files): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.is_dir);
        let mut answer = match entries.len() {
            0 => "This directory is empty, or has only hidden files.".to_string(),
            _ => format!(
                "There are **{}** and **{}** here, not counting hidden ones.",
                count(dirs.len(), "directory", "directories"),
                count(files.len(), "file", "files"),
            ),
        };
        if let Some(largest) = files.iter().max_by_key(|entry| entry.bytes) {
            answer +=
                &format!(" The largest file is {} ({}).", code(&largest.name), size(largest.bytes));
        }
        if let Some(readable) = files.iter().find(|entry| entry.name.ends_with(".md")) {
            let read = code(&format!("read {}", readable.name));
            answer += &format!("\n\nTry {read} next.");
        }
        self.say(act, &answer)
    }

    pub(super) fn read(&self, project: &Path, file: &str) -> Act {
        let inside = Path::new(file)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside {
            let answer =
                format!("I only read files inside this project, and {} isn't.", code(file));
            return self.say(act(), &answer);
        }
        let mut call = tool("read", "Read", &format!("Read {file}"), "read", json!({}));
        call.input = json!({"file_path": project.join(file)});
        call.locations = vec![file.into()];
        let act = act().tool(call).pause(self.ms(300)).read_file("read", file);
        let path = project.join(file);
        // Opening a named pipe would block until something writes to it.
        let content = path.is_file().then(|| fs::read_to_string(&path).ok()).flatten();
        let answer = match content {
            Some(content) => about_file(file, &content),
            None => format!(
                "I couldn't read {}. Try `list the files` first, or `edit a file` to create one.",
                code(file)
            ),
        };
        self.say(act, &answer)
    }

    pub(super) fn edit(&self, project: &Path) -> Act {
        let old = fs::read_to_string(project.join(NOTE)).ok();
        let new = match &old {
            None => "# A note from the demo\n\nYou allowed me to write this. Delete it whenever you like.\n".into(),
            Some(old) => {
                let visits = old.matches("I was here").count() + 1;
                let times = count(visits, "time", "times");
                format!("{}\n\n- I was here again: {times} now.\n", old.trim_end())
            }
        };
        let title = if old.is_some() { "Add a line to" } else { "Create" };
        let mut call = tool("edit", "Edit", &format!("{title} {NOTE}"), "edit", json!({}));
        call.name = if old.is_some() { "Edit".into() } else { "Write".into() };
        call.input = match &old {
            Some(old) => {
                json!({"file_path": project.join(NOTE), "old_string": old, "new_string": new})
            }
            None => json!({"file_path": project.join(NOTE), "content": new}),
        };
        call.locations = vec![NOTE.into()];
        let first = self.say(
            act(),
            "I'd like to write a small note into your project, so I'm asking for permission.",
        );
        let asked = first.tool(call).diff("edit", NOTE, old.as_deref(), &new);
        let allowed = act().write_file_as("edit", NOTE, &new);
        let allowed = self.say(
            allowed,
            &format!(
                "Done. {} is now a real file in your project. Type `edit a file` again and I'll add a line to it.",
                code(NOTE)
            ),
        );
        let refused = self
            .say(act().tool_failed("edit", "The user denied it."), "OK. I didn't write anything.");
        asked.step(ask("edit", allowed, refused))
    }

    pub(super) fn run(&self, command: Option<&str>) -> Act {
        let (command, title) = match command {
            Some(command) => (command, command),
            None => (SHOW, "Count to five, in colour"),
        };
        let input = json!({"command": command, "description": title});
        let first =
            self.say(act(), "I need to run a command for this, so I'm asking for permission.");
        let asked = first.tool(tool("run", "Bash", title, "execute", input));
        let allowed = self.say(
            act().run("run", command),
            "That was a real process in your project's directory. You saw its output as it was written, \
             and **Stop** would have ended it.",
        );
        let refused =
            self.say(act().tool_failed("run", "The user denied it."), "OK. I didn't run anything.");
        asked.step(ask("run", allowed, refused))
    }

    pub(super) fn think(&self) -> Act {
        self.say(self.think_aloud(act(), RIDDLE_THINKING), RIDDLE)
    }

    /// Surveys the project, to show a plan that gets carried out.
    pub(super) fn plan(&self, project: &Path) -> Act {
        const STEPS: [&str; 4] =
            ["Look at the top level", "Count files and lines", "Find what stands out", "Summarise"];
        let (top, survey) = (entries(project), Survey::of(project));
        let names: Vec<String> = top.iter().map(|entry| entry.name.clone()).collect();
        let kinds: String = survey
            .top(12)
            .iter()
            .map(|(kind, files, lines)| format!("{kind:<12} {files:>6} files {lines:>9} lines\n"))
            .collect();
        let act = self.say(act(), "I'll survey this project. Here is my plan:");
        let act = act.step(plan(&STEPS, 0)).pause(self.ms(600));
        let act = act
            .tool(tool("top", "LS", "Look at the top level", "search", json!({"path": "."})))
            .pause(self.ms(500))
            .tool_done("top", &names.join("\n"))
            .step(plan(&STEPS, 1))
            .tool(tool(
                "count",
                "Glob",
                "Count files and lines",
                "search",
                json!({"pattern": "**/*"}),
            ))
            .pause(self.ms(900))
            .tool_done("count", &kinds)
            .step(plan(&STEPS, 2));
        let act = self
            .think_aloud(act, "The type with the most lines shows what kind of project this is. What else stands out?")
            .step(plan(&STEPS, 3));
        self.say(act, &summary(&survey)).step(plan(&STEPS, 4))
    }

    pub(super) fn long(&self) -> Act {
        self.say(act(), LONG)
    }

    pub(super) fn ask(&self, project: &Path) -> Act {
        let choice = |name: &str, description: &str| Choice {
            id: name.into(),
            name: name.into(),
            // Not "once": **Approve everything** must leave a question to the user.
            kind: Some("allow_always".into()),
            description: Some(description.into()),
        };
        let branches = answered("A plan", self.plan(project))
            .and("Colours", self.colours())
            .and("A riddle", self.think())
            .or(self.say(act(), "OK, nothing then. Type anything when you'd like to see more."));
        let question = Question {
            id: "ask".into(),
            question: "What should I show you next?".into(),
            header: "Next".into(),
            options: vec![
                choice("A plan", "A survey of your project"),
                choice("Colours", "A terminal full of them"),
                choice("A riddle", "And how I solve it"),
                choice("Nothing", "That's enough for now"),
            ],
            multiple: false,
            then: branches.then,
            otherwise: branches.otherwise,
        };
        self.say(act(), "I have a question. I'll wait as long as you like, even while you're away.")
            .step(Step::Question(question))
    }

    pub(super) fn diff(&self) -> Act {
        const OLD: &str = concat!(
            "fn greet(name: &str) {\n    println!(\"Hello \" + name);\n}\n\n",
            "fn main() {\n    greet(\"world\");\n}\n"
        );
        const NEW: &str = concat!(
            "/// Greets `name`, or \"you\" if it is empty.\n",
            "fn greet(name: &str) {\n    let name = if name.is_empty() { \"you\" } else { name };\n",
            "    println!(\"Hello {name}!\");\n}\n\n",
            "fn main() {\n    greet(\"world\");\n}\n"
        );
        let mut call = tool("diff", "Edit", "Propose a change to greet.rs", "edit", json!({}));
        call.input = json!({"file_path": "greet.rs", "old_string": OLD, "new_string": NEW});
        let act = self.say(
            act(),
            "Suppose there is a file `greet.rs` with a mistake in it. I would change it like this:",
        );
        let act = act
            .tool(call)
            .diff("diff", "greet.rs", Some(OLD), NEW)
            .pause(self.ms(500))
            .tool_done("diff", "");
        self.say(
            act,
            "There is no such file, and nothing was written. With **Ask before acting**, this is how you see \
             a real change, *before* it happens.",
        )
    }

    pub(super) fn colours(&self) -> Act {
        let mut act = act().tool(tool(
            "colours",
            "Bash",
            "Show all colours",
            "execute",
            json!({"command": "colours"}),
        ));
        for line in spectrum() {
            act = act.tool_output("colours", &line).pause(self.ms(60));
        }
        self.say(
            act.tool_done("colours", ""),
            "The 16 basic colours, the 256-colour cube, a true-colour gradient, and the text styles.",
        )
    }

    pub(super) fn picture(&self) -> Act {
        let mut call = tool("picture", "Read", "Look at door.png", "read", json!({}));
        call.input = json!({"file_path": "door.png"});
        let act = act()
            .tool(call)
            .pause(self.ms(300))
            .tool_image("picture", "image/png", PICTURE.trim())
            .tool_done("picture", "");
        self.say(
            act,
            "A door at dusk, half open. *Liminal* means on the threshold: no longer outside, not yet inside.",
        )
    }

    pub(super) fn remind(&self) -> Act {
        let later = self.say(
            act().pause(self.ms(5_000)),
            "Here is your reminder. An agent can start a turn on its own when it has something to report, \
             even if you haven't sent a message.",
        );
        self.say(act(), "I'll remind you in five seconds. You don't have to wait here; look at another session.")
            .after_turn(later)
    }

    pub(super) fn wait(&self) -> Act {
        self.say(
            act(),
            "I'm waiting, and I can do this all day. Press **Stop** when you've seen enough.",
        )
        .wait_for_cancel()
    }

    pub(super) fn fail(&self) -> Act {
        self.say(act(), "As you asked, this turn ends with an error.").pause(self.ms(500)).fail(
            -32603,
            "The demo failed because you asked it to. Nothing is broken: just send another message.",
        )
    }

    pub(super) fn crash(&self) -> Act {
        self.say(
            act(),
            "Crashing now. Everything above stays. Send another message and I'll be back.",
        )
        .pause(self.ms(500))
        .crash(
            1,
            "demo: crashed because the user asked for it\nThe next message starts a new process.",
        )
    }

    fn say(&self, act: Act, text: &str) -> Act {
        act.say_words(&unwrapped(text), self.ms(22))
    }

    fn think_aloud(&self, act: Act, text: &str) -> Act {
        act.think_words(&unwrapped(text), self.ms(28))
    }

    fn ms(&self, lifelike: u64) -> u64 {
        lifelike * self.pace / 100
    }
}

fn tool(id: &str, name: &str, title: &str, kind: &str, input: serde_json::Value) -> Tool {
    Tool {
        id: id.into(),
        name: name.into(),
        title: title.into(),
        kind: kind.into(),
        input,
        locations: Vec::new(),
    }
}

fn ask(call: &str, allowed: Act, refused: Act) -> Step {
    let choice = |id: &str, name: &str, kind: &str| Choice {
        id: id.into(),
        name: name.into(),
        kind: Some(kind.into()),
        description: None,
    };
    let branches = answered("allow", allowed).or(refused);
    Step::Ask(crate::script::Ask {
        tool: Some(call.into()),
        options: vec![
            choice("allow", "Allow once", "allow_once"),
            choice("reject", "Deny", "reject_once"),
        ],
        then: branches.then,
        otherwise: branches.otherwise,
        ..crate::script::Ask::default()
    })
}

/// A plan with the first `done` steps completed and the next one in progress.
fn plan(steps: &[&str], done: usize) -> Step {
    let status = |at: usize| match at {
        at if at < done => PlanStatus::Completed,
        at if at == done => PlanStatus::InProgress,
        _ => PlanStatus::Pending,
    };
    let entries = steps
        .iter()
        .enumerate()
        .map(|(at, text)| crate::script::PlanEntry { text: (*text).into(), status: status(at) });
    Step::Plan(entries.collect())
}

fn about_file(file: &str, content: &str) -> String {
    let (lines, words) = (content.lines().count(), content.split_whitespace().count());
    let mut answer = format!(
        "{} has **{}** and about {}.",
        code(file),
        count(lines, "line", "lines"),
        count(words, "word", "words")
    );
    let headings: Vec<&str> =
        content.lines().filter(|line| line.starts_with('#')).take(8).collect();
    if file.ends_with(".md") && !headings.is_empty() {
        answer += " Its headings are:\n\n";
        for heading in headings {
            answer += &format!("- {}\n", heading.trim_start_matches('#').trim());
        }
    } else if let Some(first) = content.lines().find(|line| !line.trim().is_empty()) {
        let first: String = first.chars().take(120).collect();
        answer += &format!(" It starts with:\n\n```\n{first}\n```\n");
    }
    answer += "\nThat's all a demo can tell you. A real agent would *understand* it.";
    answer
}

fn summary(survey: &Survey) -> String {
    let Some((largest, bytes)) = &survey.largest else {
        return "There is nothing here to survey yet. Try `edit a file` to change that.".into();
    };
    let more = if survey.cut { "More than " } else { "" };
    let files = count(survey.files, "file", "files");
    let mut answer = format!(
        "## This project\n\n{more}{files}, {} in total. The largest is {} ({}).\n\n\
         | Type | Files | Lines |\n| --- | ---: | ---: |\n",
        size(survey.bytes),
        code(largest),
        size(*bytes)
    );
    for (kind, files, lines) in survey.top(6) {
        answer += &format!("| {} | {files} | {lines} |\n", code(kind));
    }
    answer += "\nI counted these just now, without hidden files and build output.";
    answer
}

fn spectrum() -> Vec<String> {
    let row = |colours: std::ops::Range<u32>, ground: u32| {
        let cells: String = colours.map(|n| format!("\x1b[{}m  {n:>3} ", ground + n)).collect();
        format!("{cells}\x1b[0m\n")
    };
    let mut lines = vec![row(0..8, 40), row(0..8, 100), "\n".into()];
    for green in 0..6 {
        let cells: String = (0..36)
            .map(|n| format!("\x1b[48;5;{}m  ", 16 + green * 6 + (n / 6) * 36 + n % 6))
            .collect();
        lines.push(format!("{cells}\x1b[0m\n"));
    }
    let gradient: String =
        (0..72).map(|n| format!("\x1b[48;2;{};{};{}m ", 122 + n, 162 - n, 247 - n * 2)).collect();
    lines.push(format!("\n{gradient}\x1b[0m\n\n"));
    let styles = concat!(
        "\x1b[1mbold\x1b[0m \x1b[2mfaint\x1b[0m \x1b[3mitalic\x1b[0m ",
        "\x1b[4munderlined\x1b[0m \x1b[7mreversed\x1b[0m \x1b[9mstruck through\x1b[0m\n"
    );
    lines.push(styles.into());
    lines
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A name as inline code. No name can break out of it, not even in a table.
fn code(name: &str) -> String {
    format!("`{}`", name.replace(['`', '|', '\n'], "?"))
}
