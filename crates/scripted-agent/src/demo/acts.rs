//! What the demo does about each wish, as steps.

use std::fs;
use std::path::{Component, Path};

use serde_json::json;

use super::survey::{Survey, entries, size};
use crate::script::{Act, Choice, PlanStatus, Question, Step, Steps, Tool, act, answered};

const TOUR: &str = include_str!("texts/tour.md");
const WISHES: &str = include_str!("texts/wishes.md");
const LONG: &str = include_str!("texts/long.md");
const RIDDLE_THINKING: &str = include_str!("texts/riddle-thinking.md");
const RIDDLE: &str = include_str!("texts/riddle.md");
const PICTURE: &str = include_str!("texts/door.png.base64");

/// The file the demo writes, if it may.
const NOTE: &str = "liminal-demo.md";
/// What it runs when nothing else was named: slow enough to be watched, and in colour.
const SHOW: &str = r#"for n in 1 2 3 4 5; do printf '\033[3%sm●\033[0m step %s of 5\n' "$n" "$n"; sleep 0.4; done
printf '\033[1mdone\033[0m on %s\n' "$(uname -s)""#;

/// The demo's acts, at its pace.
#[derive(Debug)]
pub(super) struct Acts {
    /// Percent of a lifelike pace.
    pace: u64,
}

impl Acts {
    pub(super) fn new(pace: u64) -> Self {
        Self { pace }
    }

    pub(super) fn tour(&self) -> Act {
        let plan =
            |done: usize| plan(&["Say hello", "Show what this page can do", "Let you try"], done);
        let act = self.think_aloud(
            act().step(plan(0)),
            "Somebody new, it seems. I should say who I am, show what this page can do rather than praise it, \
             and then get out of the way.",
        );
        let (hello, rest) = TOUR.split_once("\n## ").unwrap_or((TOUR, ""));
        let act = self.say(act, hello).step(plan(1));
        let (show, offer) = rest.split_once("\n## Now you").unwrap_or((rest, ""));
        let act = self.say(act, &format!("\n## {show}")).step(plan(2));
        self.say(act, &format!("\n## Now you{offer}{WISHES}")).step(plan(3))
    }

    /// For what the demo has no answer to.
    pub(super) fn shrug(&self, text: &str, turn: u32) -> Act {
        const TIPS: [&str; 4] = [
            "Open a second session beside this one: both go on at the same time.",
            "Reload the page while I speak. You will not miss a word.",
            "Click a tool call to fold its output away or to see all of it.",
            "Every session remembers its draft: write half a message, leave, and come back.",
        ];
        let first = text.lines().next().unwrap_or_default();
        let quote: String = first.chars().take(120).collect();
        let tip = TIPS[turn as usize % TIPS.len()];
        let answer = format!(
            "> {quote}\n\nA real agent would know what to do with that; I only know what is in my script:\n\n\
             {WISHES}\n**By the way:** {tip}"
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
            0 => "This directory is empty, or all it holds is hidden.".to_string(),
            _ => format!(
                "There are **{}** and **{}** here, not counting what is hidden.",
                count(dirs.len(), "directory", "directories"),
                count(files.len(), "file", "files"),
            ),
        };
        if let Some(largest) = files.iter().max_by_key(|entry| entry.bytes) {
            answer += &format!(
                " The largest file is {}, with {}.",
                code(&largest.name),
                size(largest.bytes)
            );
        }
        if let Some(readable) = files.iter().find(|entry| entry.name.ends_with(".md")) {
            let read = code(&format!("read {}", readable.name));
            answer += &format!("\n\nYou could go on with {read}.");
        }
        self.say(act, &answer)
    }

    pub(super) fn read(&self, project: &Path, file: &str) -> Act {
        let inside = Path::new(file)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside {
            let answer = format!("I only read inside this project, and {} is not.", code(file));
            return self.say(act(), &answer);
        }
        let mut call = tool("read", "Read", &format!("Read {file}"), "read", json!({}));
        call.input = json!({"file_path": project.join(file)});
        call.locations = vec![file.into()];
        let act = act().tool(call).pause(self.ms(300)).read_file("read", file);
        let path = project.join(file);
        // Opening a pipe would wait until somebody writes to it.
        let content = path.is_file().then(|| fs::read_to_string(&path).ok()).flatten();
        let answer = match content {
            Some(content) => about_file(file, &content),
            None => format!(
                "I could not read {}. `list the files` shows what there is; or try `edit a file`, which makes one.",
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
        let first =
            self.say(act(), "I would like to write a small note into your project. You decide.");
        let asked = first.tool(call).diff("edit", NOTE, old.as_deref(), &new);
        let allowed = act().write_file_as("edit", NOTE, &new);
        let allowed = self.say(
            allowed,
            &format!(
                "Written. {} is a real file in your project now; write `edit a file` again and I will add to it.",
                code(NOTE)
            ),
        );
        let refused = self.say(
            act().tool_failed("edit", "The user said no."),
            "As you wish: nothing was written.",
        );
        asked.step(ask("edit", "Write it", allowed, refused))
    }

    pub(super) fn run(&self, command: Option<&str>) -> Act {
        let (command, title) = match command {
            Some(command) => (command, command),
            None => (SHOW, "Count to five, in colour"),
        };
        let input = json!({"command": command, "description": title});
        let first = self.say(act(), "This needs a command, and commands need your leave.");
        let asked = first.tool(tool("run", "Bash", title, "execute", input));
        let allowed = self.say(
            act().run("run", command),
            "That was a real process, running in your project's directory. Its output came as it was written, \
             and Stop would have ended it.",
        );
        let refused = self
            .say(act().tool_failed("run", "The user said no."), "As you wish: nothing was run.");
        asked.step(ask("run", "Run it", allowed, refused))
    }

    pub(super) fn think(&self) -> Act {
        self.say(self.think_aloud(act(), RIDDLE_THINKING), RIDDLE)
    }

    /// A survey of the project, which is a plan that is carried out.
    pub(super) fn plan(&self, project: &Path) -> Act {
        const STEPS: [&str; 4] =
            ["Look at the top level", "Count files and lines", "Find what stands out", "Sum it up"];
        let (top, survey) = (entries(project), Survey::of(project));
        let names: Vec<String> = top.iter().map(|entry| entry.name.clone()).collect();
        let kinds: String = survey
            .top(12)
            .iter()
            .map(|(kind, files, lines)| format!("{kind:<12} {files:>6} files {lines:>9} lines\n"))
            .collect();
        let act = self.say(act(), "A survey of this project, then. This is what I mean to do:");
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
            .think_aloud(act, "The kind with the most lines says what sort of project this is. What else stands out?")
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
            // "Always", because a policy that allows once by itself must leave a question to the user.
            kind: Some("allow_always".into()),
            description: Some(description.into()),
        };
        let branches = answered("A plan", self.plan(project))
            .and("Colours", self.colours())
            .and("A riddle", self.think())
            .or(self.say(act(), "Then nothing more. A good choice, too."));
        let question = Question {
            id: "ask".into(),
            question: "What shall I show you next?".into(),
            header: "Next".into(),
            options: vec![
                choice("A plan", "I survey your project"),
                choice("Colours", "A terminal full of them"),
                choice("A riddle", "And how I think about it"),
                choice("Nothing", "Thank you"),
            ],
            multiple: false,
            then: branches.then,
            otherwise: branches.otherwise,
        };
        self.say(act(), "A question for you. I wait as long as you like, also while you are away.")
            .step(Step::Question(question))
    }

    pub(super) fn diff(&self) -> Act {
        const OLD: &str = "fn greet(name: &str) {\n    println!(\"Hello \" + name);\n}\n\nfn main() {\n    greet(\"world\");\n}\n";
        const NEW: &str = "/// Says hello, and to nobody in particular when there is no name.\nfn greet(name: &str) {\n    let name = if name.is_empty() { \"you\" } else { name };\n    println!(\"Hello {name}!\");\n}\n\nfn main() {\n    greet(\"world\");\n}\n";
        let mut call = tool("diff", "Edit", "Propose a change to greet.rs", "edit", json!({}));
        call.input = json!({"file_path": "greet.rs", "old_string": OLD, "new_string": NEW});
        let act = self.say(act(), "Suppose there were a file `greet.rs` with a mistake in it. I would change it like this:");
        let act = act
            .tool(call)
            .diff("diff", "greet.rs", Some(OLD), NEW)
            .pause(self.ms(500))
            .tool_done("diff", "");
        self.say(act, "There is no such file, and nothing was written. When an agent does change one, you see it like that, *before* it happens.")
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
        self.say(act.tool_done("colours", ""), "Sixteen colours, the cube of 256, a gradient in true colour, and what a terminal can do to letters.")
    }

    pub(super) fn picture(&self) -> Act {
        let mut call = tool("picture", "Read", "Look at door.png", "read", json!({}));
        call.input = json!({"file_path": "door.png"});
        let act = act()
            .tool(call)
            .pause(self.ms(300))
            .tool_image("picture", "image/png", PICTURE.trim())
            .tool_done("picture", "");
        self.say(act, "A door at dusk, half open. *Liminal* is what lies on a threshold: no longer outside, not yet in.")
    }

    pub(super) fn remind(&self) -> Act {
        let later = self.say(
            act().pause(self.ms(5_000)),
            "You asked me to remind you. Nobody had to ask twice: an agent that has something to say while you are \
             not waiting gets a turn of its own.",
        );
        self.say(act(), "I will speak up in five seconds. You need not wait here; look at another session meanwhile.")
            .after_turn(later)
    }

    pub(super) fn wait(&self) -> Act {
        self.say(
            act(),
            "I am waiting. I can do this all day. Press **Stop** when you have seen enough.",
        )
        .wait_for_cancel()
    }

    pub(super) fn fail(&self) -> Act {
        self.say(act(), "This will end badly, as you wished.").pause(self.ms(500)).fail(
            -32603,
            "The demo failed because you asked it to. Nothing is broken: write something else.",
        )
    }

    pub(super) fn crash(&self) -> Act {
        self.say(act(), "Falling over now. My words stay; write again and I will be back.")
            .pause(self.ms(500))
            .crash(1, "demo: crashed because the user asked for it\nthe next message starts a new process")
    }

    fn say(&self, act: Act, text: &str) -> Act {
        act.say_words(text, self.ms(22))
    }

    fn think_aloud(&self, act: Act, text: &str) -> Act {
        act.think_words(text, self.ms(28))
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

fn ask(call: &str, yes: &str, allowed: Act, refused: Act) -> Step {
    let choice = |id: &str, name: &str, kind: &str| Choice {
        id: id.into(),
        name: name.into(),
        kind: Some(kind.into()),
        description: None,
    };
    let branches = answered("allow", allowed).or(refused);
    Step::Ask(crate::script::Ask {
        tool: Some(call.into()),
        options: vec![choice("allow", yes, "allow_once"), choice("reject", "No", "reject_once")],
        then: branches.then,
        otherwise: branches.otherwise,
        ..crate::script::Ask::default()
    })
}

/// A plan of which so many are done and the next is being done.
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
        answer += " It is about:\n\n";
        for heading in headings {
            answer += &format!("- {}\n", heading.trim_start_matches('#').trim());
        }
    } else if let Some(first) = content.lines().find(|line| !line.trim().is_empty()) {
        let first: String = first.chars().take(120).collect();
        answer += &format!(" It begins with:\n\n```\n{first}\n```\n");
    }
    answer += "\nThat is all a demo can say of it; a real agent would have *understood* it.";
    answer
}

fn summary(survey: &Survey) -> String {
    let Some((largest, bytes)) = &survey.largest else {
        return "There is nothing here to survey yet. `edit a file` would change that.".into();
    };
    let more = if survey.cut { "more than " } else { "" };
    let files = count(survey.files, "file", "files");
    let mut answer = format!(
        "## This project\n\n{more}{files}, {} together; the largest is {} with {}.\n\n\
         | Kind | Files | Lines |\n| --- | ---: | ---: |\n",
        size(survey.bytes),
        code(largest),
        size(*bytes)
    );
    for (kind, files, lines) in survey.top(6) {
        answer += &format!("| {} | {files} | {lines} |\n", code(kind));
    }
    answer += "\nI counted this just now; hidden files and what build tools made were left out.";
    answer
}

/// Every colour, a line at a time.
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
    lines.push("\x1b[1mbold\x1b[0m \x1b[2mfaint\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4munderlined\x1b[0m \x1b[7mreversed\x1b[0m \x1b[9mstruck\x1b[0m\n".into());
    lines
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A name as code that no name can break out of, not even in a table.
fn code(name: &str) -> String {
    format!("`{}`", name.replace(['`', '|', '\n'], "?"))
}
