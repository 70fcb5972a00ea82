//! The command that prepares a new worktree. The user typed it; nothing in the repository can name one.

use std::path::Path;
use std::time::Duration;

use liminal_agents::process::{Exit, Launch, Started, StderrTo, StdinFrom};
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout};

use super::Workspaces;

/// In bytes: how much of the output is kept, from its end.
const MOST_KEPT: usize = 16 << 10;
/// How often the output is reported at most.
const EVERY: Duration = Duration::from_millis(250);
/// How long to wait for output after the command ended: a leftover child may hold the pipe open.
const LAST_OUTPUT: Duration = Duration::from_millis(300);

/// How it ended, with the end of what it printed.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub output: String,
    /// `None` if it was not started or was ended by a signal; then the output says so.
    pub exit_code: Option<i32>,
}

impl Workspaces {
    /// Runs it under a guard. Dropping the future ends it. `said` gets the end of the output now and then.
    pub async fn set_up(
        &self,
        directory: &Path,
        command: &str,
        mut said: impl FnMut(String),
    ) -> Ended {
        let launch = Launch::new("The setup command", "/bin/sh", directory).args(["-c", command]);
        let launch = Launch { stdin: StdinFrom::Nothing, stderr: StderrTo::Stdout, ..launch };
        let Started { process, mut stdout, .. } = match launch.spawn(&self.guard).await {
            Ok(started) => started,
            Err(error) => return Ended { output: error.to_string(), exit_code: None },
        };
        let mut output = Tail::default();
        let mut chunk = vec![0; 16 << 10];
        let mut exit = None;
        let mut next = Instant::now();
        loop {
            let read = match exit {
                None => tokio::select! {
                    read = stdout.read(&mut chunk) => read,
                    how = process.exited() => {
                        exit = Some(how);
                        continue;
                    }
                },
                Some(_) => match timeout(LAST_OUTPUT, stdout.read(&mut chunk)).await {
                    Ok(read) => read,
                    Err(_held_open) => break,
                },
            };
            let Ok(bytes @ 1..) = read else { break };
            output.push(&chunk[..bytes]);
            if Instant::now() >= next {
                next = Instant::now() + EVERY;
                said(output.text());
            }
        }
        let exit = match exit {
            Some(exit) => exit,
            None => process.exited().await,
        };
        match exit {
            Exit::Code(code) => Ended { output: output.text(), exit_code: Some(code) },
            other => {
                let output = format!("{}\nThe command {other}.", output.text());
                Ended { output: output.trim_start().to_owned(), exit_code: None }
            }
        }
    }
}

/// The last bytes of an output.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        let over = self.0.len().saturating_sub(MOST_KEPT);
        self.0.drain(..over);
    }

    /// Without terminal codes.
    fn text(&self) -> String {
        liminal_render::terminal_text(&String::from_utf8_lossy(&self.0))
    }
}
