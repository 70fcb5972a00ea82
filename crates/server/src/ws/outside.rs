//! Requests about sessions that were made outside.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use liminal_contract::{CliType, ProjectId, ServerMessage, SessionId};

use super::sessions;
use crate::app::App;
use crate::failure::Failure;
use crate::outside;
use crate::sessions::SessionRequest;

pub async fn list(app: &App, project: Option<ProjectId>) -> Result<ServerMessage, Failure> {
    let found = app.outside.found(app.service.ours()?).await?;
    match project {
        Some(id) => {
            let project = app.projects.get(&id)?;
            Ok(outside::of_project(found, &id, Path::new(&project.path)))
        }
        None => Ok(outside::directories(&found)),
    }
}

/// Lists the sessions at once; their transcripts are read in the background, one after the other.
pub async fn adopt(
    app: Arc<App>,
    project: ProjectId,
    cli_type: &CliType,
    refs: Vec<String>,
) -> Result<ServerMessage, Failure> {
    let directory = PathBuf::from(app.projects.get(&project)?.path);
    let wanted: HashSet<SessionId> =
        refs.iter().filter_map(|agent_ref| SessionId::new(cli_type, agent_ref).ok()).collect();
    let mut adopted = Vec::new();
    // Looked up among what was found, so that no other session can be named; what is here already is not among them.
    for (id, found) in app.outside.found(app.service.ours()?).await? {
        if wanted.contains(&id) && found.cwd == directory {
            let session = app.service.adopt(&project, id.clone(), found).await?;
            app.hub.broadcast(ServerMessage::SessionCreated {
                session_id: id.clone(),
                project_id: project.clone(),
                session,
            });
            adopted.push(id);
        }
    }
    tokio::spawn(read(app, project, adopted));
    Ok(sessions::ok(()))
}

async fn read(app: Arc<App>, project_id: ProjectId, adopted: Vec<SessionId>) {
    let total = adopted.len();
    for (done, id) in adopted.into_iter().enumerate() {
        if let Err(failure) = app.service.ask(&id, SessionRequest::Read).await {
            tracing::warn!(session = %id, message = failure.message, "a transcript was not read");
        }
        let project_id = project_id.clone();
        app.hub.broadcast(ServerMessage::OutsideProgress { project_id, done: done + 1, total });
    }
}
