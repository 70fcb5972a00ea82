//! The real Claude Code on a stage, answered by a fake model on loopback.

#![allow(dead_code, reason = "no test file needs all of it")]
#![allow(clippy::unwrap_used, reason = "a test may")]

use std::ffi::OsString;
use std::process::Stdio;

use liminal_fake_model::FakeModel;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::chat::TOO_LONG;
use crate::claude::{Pace, Place, Stage};
use crate::real_agent::program;

pub struct Real {
    stage: Stage,
    pub model: FakeModel,
    program: OsString,
    env: Vec<(String, String)>,
}

impl std::ops::Deref for Real {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.stage
    }
}

/// The real program, or `None` if the stories with real agents are switched off.
pub fn real(pace: Pace, prepare: impl FnOnce(&Place)) -> Option<Real> {
    let place = Place::new();
    prepare(&place);
    real_in(place, pace, &[("ANTHROPIC_API_KEY", "test-key")])
}

pub fn real_in(place: Place, pace: Pace, env: &[(&str, &str)]) -> Option<Real> {
    let program = program("LIMINAL_TEST_CLAUDE")?;
    let model = FakeModel::start().unwrap();
    let url = model.url();
    let temporary = place.home().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut all = vec![
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("TMPDIR", temporary.to_str().unwrap()),
        ("TERM", "dumb"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ];
    all.extend(env);
    let env = all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let stage = Stage::with(program.to_str().unwrap(), &[], &all, pace, place);
    Some(Real { stage, model, program, env })
}

impl Real {
    /// Starts it as somebody else would: not under our guard, and without our mark.
    pub fn terminal(&self, session: &str) -> Terminal {
        let home = self.stage.place.home();
        let mut process = Command::new(&self.program)
            .args(["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"])
            .arg(session)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("CLAUDE_CONFIG_DIR", home.join(".claude"))
            .env("HOME", home)
            .current_dir(self.stage.place.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = process.stdin.take().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Terminal { process, stdin, lines }
    }
}

/// The real program in somebody else's hands.
pub struct Terminal {
    process: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Terminal {
    /// Says something, and waits for the end of the turn.
    pub async fn says(&mut self, text: &str) {
        let content = json!([{"type": "text", "text": text}]);
        let message = json!({"type": "user", "message": {"role": "user", "content": content}});
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        let ended = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                let line: Value = serde_json::from_str(&line).unwrap_or_default();
                if line["type"] == "result" {
                    assert_eq!(line["is_error"], false, "{line}");
                    return;
                }
            }
            panic!("it ended before its turn did");
        };
        timeout(TOO_LONG, ended).await.unwrap();
    }

    pub async fn ends(self) {
        let Self { mut process, stdin, lines: _lines } = self;
        drop(stdin);
        timeout(TOO_LONG, process.wait()).await.unwrap().unwrap();
    }
}
