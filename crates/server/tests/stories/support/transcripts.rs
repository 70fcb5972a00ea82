//! Transcripts of sessions that were made in a terminal, as Claude Code writes them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::App;

/// One of many ids that Claude Code could have given.
pub fn numbered(number: usize) -> String {
    format!("1b671a64-40d5-491e-99b0-{number:012}")
}

impl App {
    /// A transcript of one turn in this directory, in a folder of Claude Code's.
    pub fn transcript(&self, folder: &str, id: &str, cwd: &Path, words: &str) -> PathBuf {
        let folder = self.launch().home().join(".claude/projects").join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let (said, answered) = (uuid::Uuid::now_v7().to_string(), uuid::Uuid::now_v7().to_string());
        let about =
            json!({"cwd": cwd, "timestamp": "2026-01-02T03:04:05.000Z", "isSidechain": false});
        let with = |mut line: Value| {
            line.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
            format!("{line}\n")
        };
        let message = json!({"id": answered, "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Done."}]});
        let typed = with(json!({"type": "user", "uuid": said, "parentUuid": null,
            "message": {"role": "user", "content": words}}));
        let done = with(json!({"type": "assistant", "uuid": answered, "parentUuid": said,
            "message": message}));
        let path = folder.join(format!("{id}.jsonl"));
        std::fs::write(&path, typed + &done).unwrap();
        path
    }
}
