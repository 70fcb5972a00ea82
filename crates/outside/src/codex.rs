//! Codex's files: `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use liminal_contract::Timestamp;
use memchr::memmem;
use serde_json::Value;

use crate::index::{self, Stamp};
use crate::{Found, brief, ends, is_id, title_of};

pub fn files(home: &Path) -> Vec<PathBuf> {
    let mut found = vec![home.join("sessions")];
    for _year_month_day in 0..3 {
        found = found
            .iter()
            .flat_map(|directory| index::entries(directory).collect::<Vec<_>>())
            .collect();
    }
    found
        .iter()
        .flat_map(|day| index::entries(day).collect::<Vec<_>>())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("rollout-") && name.ends_with(".jsonl")
        })
        .collect()
}

/// `None` for a file without a message of the user's, and for one of a sub-agent.
pub fn read(file: &mut File, stamp: Stamp) -> io::Result<Option<Found>> {
    let (mut about, mut title) = (Value::Null, None);
    ends::head(file, |text| {
        if about.is_null() {
            about = serde_json::from_slice(text).unwrap_or_default();
            return about["type"] != "session_meta";
        }
        title = first_words(text);
        title.is_some()
    })?;
    let about = &about["payload"];
    let words = |name: &str| about[name].as_str().map(str::to_owned);
    // A sub-agent's source is an object that names its parent.
    let (Some(agent_ref), Some(cwd), Some(title), false) =
        (words("id"), words("cwd"), title, about["source"].is_object())
    else {
        return Ok(None);
    };
    if !is_id(&agent_ref) {
        return Ok(None);
    }
    let began = words("timestamp").and_then(|at| Timestamp::parse(&at).ok());
    Ok(Some(Found {
        agent_ref,
        cwd: cwd.into(),
        title,
        said: None,
        branch: about["git"]["branch"].as_str().and_then(brief),
        version: about["cli_version"].as_str().and_then(brief),
        began: began.unwrap_or(stamp.changed),
        changed: stamp.changed,
        bytes: stamp.bytes,
    }))
}

/// The first line of a message of the user's. What Codex adds in the user's name is in tags or is the project's own
/// instructions.
fn first_words(text: &[u8]) -> Option<String> {
    memmem::find(text, br#""response_item""#)?;
    memmem::find(text, br#""user""#)?;
    let line: Value = serde_json::from_slice(text).ok()?;
    let message = &line["payload"];
    if line["type"] != "response_item" || message["role"] != "user" {
        return None;
    }
    message["content"]
        .as_array()?
        .iter()
        .filter_map(|block| block["text"].as_str())
        .find(|text| !text.starts_with('<') && !text.starts_with("# AGENTS.md"))
        .and_then(title_of)
}
