//! Finds out what the user wants, from plain words.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    Tour,
    List,
    Read(String),
    Edit,
    Run(Option<String>),
    Think,
    Plan,
    PlanMode,
    Compact,
    Long,
    Ask,
    Form,
    Page,
    Diff,
    Colours,
    Picture,
    Remind,
    Background,
    Wait,
    Fail,
    Crash,
    Unknown,
}

/// In words. A longer sentence is talk, not a wish: a single word in it must not trigger anything.
const LONGEST_WISH: usize = 6;

impl Wish {
    pub(super) fn of(text: &str) -> Self {
        let plain = text.trim_matches(is_decoration);
        // The two that take an argument come first, because the argument may contain any word. A command is taken
        // literally: its quotes, dots and stars belong to it.
        if let Some(command) = behind("run", unquoted(text)).map(unquoted) {
            let any = ["a command", "something", "command", ""]
                .contains(&command.trim_matches(is_decoration));
            return Self::Run((!any).then(|| command.to_owned()));
        }
        if let Some(file) = behind("read", plain).map(|file| file.trim_matches(['`', '"'])) {
            let any =
                ["a file", "the readme", "readme", ""].contains(&file.to_lowercase().as_str());
            return Self::Read(if any { "README.md" } else { file }.to_owned());
        }
        let lower = plain.to_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.len() > LONGEST_WISH {
            return Self::Unknown;
        }
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
        match () {
            () if has(&["hi", "hello", "hey", "help", "tour", "start", "demo"]) => Self::Tour,
            () if has(&["list", "ls", "files"]) => Self::List,
            () if has(&["edit", "write"]) => Self::Edit,
            () if has(&["run"]) => Self::Run(None),
            () if has(&["read", "readme"]) => Self::Read("README.md".into()),
            () if has(&["compact"]) => Self::Compact,
            () if has(&["plan"]) && has(&["mode"]) => Self::PlanMode,
            () if has(&["plan", "survey"]) => Self::Plan,
            () if has(&["think", "riddle"]) => Self::Think,
            () if has(&["long"]) => Self::Long,
            () if has(&["ask"]) => Self::Ask,
            () if has(&["form"]) => Self::Form,
            () if has(&["page", "link"]) => Self::Page,
            () if has(&["diff", "change"]) => Self::Diff,
            () if has(&["colours", "colors", "colour", "color"]) => Self::Colours,
            () if has(&["picture", "image"]) => Self::Picture,
            () if has(&["background", "task"]) => Self::Background,
            () if has(&["remind", "later"]) => Self::Remind,
            () if has(&["wait"]) => Self::Wait,
            () if has(&["fail", "error"]) => Self::Fail,
            () if has(&["crash"]) => Self::Crash,
            () => Self::Unknown,
        }
    }
}

/// Characters people put around a wish.
fn is_decoration(c: char) -> bool {
    c.is_whitespace() || "\"'`.!?*/".contains(c)
}

/// The text after `verb`, if it starts with it.
fn behind<'a>(verb: &str, text: &'a str) -> Option<&'a str> {
    let (first, rest) = text.split_at_checked(verb.len())?;
    let begins = first.eq_ignore_ascii_case(verb) && rest.starts_with([' ', ':']);
    begins.then(|| rest.trim_matches([' ', ':']))
}

/// Without quotes, if they enclose the whole text.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = |quote: char| {
        let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inside.contains(quote)).then_some(inside)
    };
    ['`', '"', '\''].into_iter().find_map(inside).unwrap_or(text)
}
