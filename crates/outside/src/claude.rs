//! Claude Code's files: `projects/<directory>/<id>.jsonl`.
//!
//! Only lines of the types below are parsed; others (whole API requests among them) may be large.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use liminal_contract::Timestamp;
use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use crate::index::{self, Stamp};
use crate::{Found, brief, ends, is_id, title_of};

/// Claude Code deletes files that did not change for this long, unless its settings say otherwise.
const KEEPS_DAYS: u64 = 30;
const DAY: u64 = 24 * 60 * 60;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    r#type: String,
    is_sidechain: bool,
    is_meta: bool,
    is_compact_summary: bool,
    cwd: Option<PathBuf>,
    git_branch: Option<String>,
    version: Option<String>,
    timestamp: Option<String>,
    message: Value,
    custom_title: Option<String>,
    summary: Option<String>,
}

/// The files that may be sessions: those named by an id, in the project folders. Files of sub-agents lie deeper.
pub fn files(config_dir: &Path) -> Vec<PathBuf> {
    index::entries(&config_dir.join("projects"))
        .flat_map(|project| index::entries(&project).collect::<Vec<_>>())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .filter(|path| stem(path).is_some_and(is_id))
        .collect()
}

/// How long Claude Code keeps a file that doesn't change, by the user's settings.
pub fn keeps_for(config_dir: &Path) -> Duration {
    let settings = fs::read(config_dir.join("settings.json")).unwrap_or_default();
    let settings: Value = serde_json::from_slice(&settings).unwrap_or_default();
    let days = settings["cleanupPeriodDays"].as_u64().filter(|days| *days > 0);
    Duration::from_secs(days.unwrap_or(KEEPS_DAYS).saturating_mul(DAY))
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()
}

/// `None` for a file without a message of the user's: it is not a session anyone would look for.
pub fn read(path: &Path, file: &mut File, stamp: Stamp) -> io::Result<Option<Found>> {
    let mut first: Option<(Line, String)> = None;
    ends::head(file, |text| {
        let Some(line) = parsed(text, &[br#""user""#]).filter(|line| line.r#type == "user") else {
            return false;
        };
        if line.is_sidechain {
            return true; // A sub-agent's own file.
        }
        let words = (!line.is_meta && !line.is_compact_summary).then(|| words_of(&line.message));
        first = words.flatten().and_then(|words| title_of(&words)).map(|title| (line, title));
        first.is_some()
    })?;
    let Some((Line { cwd: Some(cwd), git_branch, version, timestamp, .. }, said)) = first else {
        return Ok(None);
    };
    let Some(agent_ref) = stem(path).map(str::to_owned) else { return Ok(None) };
    let began = timestamp.and_then(|at| Timestamp::parse(&at).ok()).unwrap_or(stamp.changed);
    let (title, said) = match given_title(file, stamp.bytes)?.filter(|title| *title != said) {
        Some(title) => (title, Some(said)),
        None => (said, None),
    };
    Ok(Some(Found {
        agent_ref,
        cwd,
        title,
        said,
        branch: git_branch.filter(|branch| branch != "HEAD").as_deref().and_then(brief),
        version: version.as_deref().and_then(brief),
        began,
        changed: stamp.changed,
        bytes: stamp.bytes,
    }))
}

/// The last title that the user gave, else the last summary. Claude Code repeats both at the end of the file.
fn given_title(file: &mut File, bytes: u64) -> io::Result<Option<String>> {
    let (mut custom, mut summary) = (None, None);
    ends::tail(file, bytes, |text| {
        let Some(line) = parsed(text, &[br#""custom-title""#, br#""summary""#]) else {
            return false;
        };
        match line.r#type.as_str() {
            "custom-title" => custom = line.custom_title.as_deref().and_then(title_of),
            "summary" if summary.is_none() => summary = line.summary.as_deref().and_then(title_of),
            _ => {}
        }
        custom.is_some()
    })?;
    Ok(custom.or(summary))
}

/// A line that contains one of the words and is what it should be.
fn parsed(text: &[u8], words: &[&[u8]]) -> Option<Line> {
    words.iter().any(|word| memmem::find(text, word).is_some()).then_some(())?;
    serde_json::from_slice(text).ok()
}

/// What the user said. `None` for results of tools, and for what Claude Code writes in the user's name: commands and
/// their output are in tags.
fn words_of(message: &Value) -> Option<String> {
    let content = &message["content"];
    let said = |text: &str| !text.starts_with('<') && !text.starts_with("Caveat:");
    match content {
        Value::String(text) => said(text).then(|| text.clone()),
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| block["type"] == "text")
            .find_map(|block| block["text"].as_str().filter(|text| said(text)))
            .map(str::to_owned),
        _ => None,
    }
}
