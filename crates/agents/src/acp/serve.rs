//! Serves an agent's requests: files and commands in its session's project.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    RequestId, TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::RpcError;
use super::fs::{Extent, FileError, ProjectFiles};
use super::link::Link;
use super::normalise::WrittenFile;
use super::session::Session;
use super::shared::Shared;
use super::terminal::{Command, Snapshot, Terminal};
use crate::Charge;
use crate::process::descriptors;

/// How many file requests of one agent run at once; the rest wait. Each occupies a thread, on a dead network disk
/// forever.
pub(crate) const FILES_AT_ONCE: usize = 4;

/// The largest change that is shown: both versions of the file, in bytes.
const LARGEST_CHANGE: usize = 1 << 20;

pub(crate) fn serve(
    link: &Arc<Link>,
    id: RequestId,
    method: &str,
    params: &RawValue,
    charge: Charge,
) {
    let agent = &link.shared.agent;
    let offered = match method {
        "fs/read_text_file" | "fs/write_text_file" => agent.fs,
        "terminal/create"
        | "terminal/output"
        | "terminal/wait_for_exit"
        | "terminal/kill"
        | "terminal/release" => agent.terminal,
        _ => false,
    };
    let refused = if offered {
        session_of(&link.shared, params)
    } else {
        tracing::debug!(agent = %agent.name, ?method, "Refused a request for an unsupported method");
        Err(RpcError::new(RpcError::METHOD_NOT_FOUND, format!("Method not found: {method}")))
    };
    let session = match refused {
        Ok(session) => session,
        Err(error) => {
            let _gone_anyway = link.connection.answer::<()>(&id, Err(error), Some(charge));
            return;
        }
    };
    let work = Work { link: Arc::clone(link), session };
    let (method, params) = (method.to_owned(), params.to_owned());
    // Held until the task is inserted, so that the task finds itself when it is done.
    let mut serving = link.serving();
    let task = tokio::spawn({
        let id = id.clone();
        async move {
            let result = work.perform(&method, &params).await;
            if work.link.serving().remove(&id).is_some() {
                let _gone_anyway = work.link.connection.answer(&id, result, Some(charge));
            }
        }
    });
    serving.insert(id, task.abort_handle());
}

/// The session a request is about.
pub(crate) fn session_of(shared: &Shared, params: &RawValue) -> Result<Arc<Session>, RpcError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct About {
        session_id: String,
    }
    let About { session_id } = read(params)?;
    shared.by_ref(&session_id).ok_or_else(|| {
        RpcError::new(RpcError::NOT_FOUND, format!("Session not found: {session_id}"))
    })
}

struct Work {
    link: Arc<Link>,
    session: Arc<Session>,
}

impl Work {
    async fn perform(&self, method: &str, params: &RawValue) -> Result<Value, RpcError> {
        match method {
            "fs/read_text_file" => {
                let request: ReadTextFileRequest = read(params)?;
                let extent = Extent { line: request.line, limit: request.limit };
                let text = self.files(move |files| files.read(&request.path, extent)).await?;
                write(ReadTextFileResponse::new(text))
            }
            "fs/write_text_file" => {
                let request: WriteTextFileRequest = read(params)?;
                let change = self.files(move |files| written(files, request)).await?;
                if let Some(change) = change {
                    self.session.wrote(change);
                }
                write(WriteTextFileResponse::new())
            }
            "terminal/create" => write(self.create_terminal(read(params)?).await?),
            "terminal/output" => {
                let request: TerminalOutputRequest = read(params)?;
                let Snapshot { output, truncated, exit } =
                    self.terminal(&request.terminal_id.0)?.snapshot();
                if let Some(exit) = &exit {
                    self.session.terminal_ended(&request.terminal_id.0, exit);
                }
                write(TerminalOutputResponse::new(output, truncated).exit_status(exit))
            }
            "terminal/wait_for_exit" => {
                let request: WaitForTerminalExitRequest = read(params)?;
                let exit = self.terminal(&request.terminal_id.0)?.ended().await;
                self.session.terminal_ended(&request.terminal_id.0, &exit);
                write(WaitForTerminalExitResponse::new(exit))
            }
            "terminal/kill" => {
                let request: KillTerminalRequest = read(params)?;
                self.terminal(&request.terminal_id.0)?.kill().await;
                write(KillTerminalResponse::new())
            }
            "terminal/release" => {
                let request: ReleaseTerminalRequest = read(params)?;
                if !self.session.release_terminal(&request.terminal_id.0) {
                    return Err(no_terminal(&request.terminal_id.0));
                }
                write(ReleaseTerminalResponse::new())
            }
            method => Err(RpcError::new(
                RpcError::METHOD_NOT_FOUND,
                format!("Method not found: {method}"),
            )),
        }
    }

    /// Runs file work on a blocking thread, at most [`FILES_AT_ONCE`] at a time.
    async fn files<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ProjectFiles) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let project = self.session.project_dir.clone();
        let data_dir = self.link.shared.data_dir.clone();
        let turn = Arc::clone(&self.link.shared.files).acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            // Held until the work is done, even if the request is cancelled.
            let _turn = turn;
            let files = ProjectFiles::open(&project, &data_dir)
                .map_err(|cause| FileError::Io { path: project, cause })?;
            work(&files)
        });
        match done.await {
            Ok(result) => result.map_err(RpcError::from),
            Err(error) => Err(RpcError::new(RpcError::INTERNAL, error.to_string())),
        }
    }

    async fn create_terminal(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, RpcError> {
        let cwd = request.cwd.unwrap_or_else(|| self.session.project_dir.clone());
        let cwd = self.files(move |files| files.directory(&cwd)).await?;
        let env = request.env.into_iter().map(|variable| (variable.name, variable.value));
        let command = Command {
            command: request.command,
            args: request.args,
            env: env.collect(),
            cwd,
            limit: request.output_byte_limit,
        };
        if descriptors::are_scarce() {
            let words = "Too many files are open; release a terminal first";
            return Err(RpcError::new(RpcError::INTERNAL, words));
        }
        let id = self
            .session
            .new_terminal()
            .map_err(|refused| RpcError::new(RpcError::INVALID_PARAMS, refused.to_string()))?;
        let (session, budget) = (Arc::clone(&self.session), self.link.budget.clone());
        let shown = {
            let id = id.clone();
            move |text: String| {
                let (session, budget, id) = (Arc::clone(&session), budget.clone(), id.clone());
                async move {
                    let charge = budget.charge(text.len()).await;
                    session.terminal_grew(&id, text, charge);
                }
            }
        };
        match Terminal::run(command, &self.link.shared.guard, shown).await {
            Ok(terminal) => {
                self.session.opened_terminal(&id, terminal);
                Ok(CreateTerminalResponse::new(id))
            }
            Err(error) => {
                self.session.release_terminal(&id);
                Err(RpcError::new(RpcError::INTERNAL, error.to_string()))
            }
        }
    }

    fn terminal(&self, id: &str) -> Result<Arc<Terminal>, RpcError> {
        self.session.terminal(id).ok_or_else(|| no_terminal(id))
    }
}

/// Writes a file. Returns the change, unless it is too large to show or there is none.
fn written(
    files: &ProjectFiles,
    request: WriteTextFileRequest,
) -> Result<Option<WrittenFile>, FileError> {
    let old = files.read(&request.path, Extent::default());
    files.write(&request.path, &request.content)?;
    let old = match old {
        Ok(text) => Some(text),
        Err(FileError::Missing(_)) => None,
        Err(_unreadable) => return Ok(None),
    };
    let size = old.as_ref().map_or(0, String::len) + request.content.len();
    let is_change = old.as_ref() != Some(&request.content) && size <= LARGEST_CHANGE;
    let path = request.path.display().to_string();
    Ok(is_change.then_some(WrittenFile { path, old, new: request.content }))
}

fn no_terminal(id: &str) -> RpcError {
    RpcError::new(RpcError::NOT_FOUND, format!("Terminal not found: {id}"))
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(params.get()).map_err(|error| {
        RpcError::new(RpcError::INVALID_PARAMS, format!("Invalid params: {error}"))
    })
}

fn write(response: impl Serialize) -> Result<Value, RpcError> {
    serde_json::to_value(response)
        .map_err(|error| RpcError::new(RpcError::INTERNAL, error.to_string()))
}
