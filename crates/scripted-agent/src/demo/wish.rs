//! What the user may want, read from plain words.

/// What is wished for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    Tour,
    List,
    Read(String),
    Edit,
    Run(Option<String>),
    Think,
    Plan,
    Long,
    Ask,
    Diff,
    Colours,
    Picture,
    Remind,
    Wait,
    Fail,
    Crash,
    Unknown,
}

/// A longer sentence is talk, not a wish: one of its words alone must not set off anything.
const LONGEST_WISH: usize = 6;

impl Wish {
    pub(super) fn of(text: &str) -> Self {
        let quotes = |c: char| c.is_whitespace() || "\"'`.!?*/".contains(c);
        let plain = text.trim_matches(quotes);
        let lower = plain.to_lowercase();
        let after = |verb: &str| {
            let rest = lower.starts_with(verb).then(|| plain.get(verb.len()..)).flatten()?;
            rest.starts_with([' ', ':'])
                .then(|| rest.trim_matches([' ', ':', '`', '"']).to_string())
        };
        // The two that take an object come first: what they are about may hold any word.
        if let Some(command) = after("run") {
            let any = ["a command", "something", "command", ""].contains(&command.as_str());
            return Self::Run((!any).then_some(command));
        }
        if let Some(file) = after("read") {
            let any =
                ["a file", "the readme", "readme", ""].contains(&file.to_lowercase().as_str());
            return Self::Read(if any { "README.md".into() } else { file });
        }
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
            () if has(&["plan", "survey"]) => Self::Plan,
            () if has(&["think", "riddle"]) => Self::Think,
            () if has(&["long"]) => Self::Long,
            () if has(&["ask"]) => Self::Ask,
            () if has(&["diff", "change"]) => Self::Diff,
            () if has(&["colours", "colors", "colour", "color"]) => Self::Colours,
            () if has(&["picture", "image"]) => Self::Picture,
            () if has(&["remind", "later"]) => Self::Remind,
            () if has(&["wait"]) => Self::Wait,
            () if has(&["fail", "error"]) => Self::Fail,
            () if has(&["crash"]) => Self::Crash,
            () => Self::Unknown,
        }
    }
}
