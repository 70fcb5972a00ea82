//! Files to mention in a message.

use std::path::PathBuf;

use liminal_contract::{ErrorCode, ProjectId, ServerMessage, SessionId};

use tokio::sync::oneshot;

use crate::app::App;
use crate::failure::Failure;

const USUAL_LIMIT: u32 = 20;
const HIGHEST_LIMIT: u32 = 200;

/// In bytes. Nobody types a longer part of a path.
const LONGEST_QUERY: usize = 1024;

/// One that `replaced` ends is answered without entries: nobody waits for them any more.
pub async fn find(
    app: &App,
    of: (Option<SessionId>, Option<ProjectId>),
    query: String,
    limit: Option<u32>,
    replaced: oneshot::Receiver<()>,
) -> Result<ServerMessage, Failure> {
    if query.len() > LONGEST_QUERY {
        return Err(Failure::invalid(format!("`query` is longer than {LONGEST_QUERY} bytes")));
    }
    let directory = match of {
        (Some(session), None) => app.service.directory(&session).await?,
        (None, Some(project)) => PathBuf::from(app.projects.workable(&project).await?.path),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::invalid("give either `sessionId` or `projectId`"));
        }
    };
    let limit = limit.unwrap_or(USUAL_LIMIT).min(HIGHEST_LIMIT) as usize;
    let found = tokio::select! {
        found = app.files.find_in_time(directory, query.clone(), limit) => found,
        _sender_dropped = replaced => {
            return Ok(ServerMessage::FilesFound { query, entries: Vec::new(), more: true });
        }
    };
    let Some(found) = found else {
        let slow = "The files of this project could not be listed in time. Type the path instead.";
        return Err(Failure::new(ErrorCode::InternalError, slow));
    };
    Ok(ServerMessage::FilesFound { query, entries: found.entries, more: found.more })
}
