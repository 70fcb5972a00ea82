//! Recorded output of real agents, as texts to damage.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The lines an agent wrote in each recording of a folder. `ours` turns each message to the agent into a line between
/// them; `None` skips it.
///
/// # Panics
/// If the folder is missing or a recording is invalid.
pub fn recordings(
    folder: impl AsRef<Path>,
    ours: impl Fn(&Value) -> Option<String>,
) -> Vec<String> {
    let folder = folder.as_ref();
    let broken = |why: &dyn std::fmt::Display| -> ! { panic!("{}: {why}", folder.display()) };
    let files = fs::read_dir(folder).unwrap_or_else(|error| broken(&error));
    let files = files.map(|file| file.unwrap_or_else(|error| broken(&error)).path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    let recording = |file| {
        let text = fs::read_to_string(file).unwrap_or_else(|error| broken(&error));
        let mut lines = String::new();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap_or_else(|error| broken(&error));
            let message = &line["msg"];
            let said = match line["dir"].as_str() {
                Some("out") => Some(message.to_string()),
                Some("in") => ours(message),
                _ => None,
            };
            lines.extend(said.into_iter().flat_map(|said| [said, "\n".to_owned()]));
        }
        lines
    };
    files.map(recording).collect()
}
