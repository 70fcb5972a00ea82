//! Requests about sessions that were made outside.

use std::collections::HashSet;

use liminal_contract::{CliType, ProjectId, ServerMessage, SessionId};

use super::sessions;
use crate::app::App;
use crate::failure::Failure;

type Answer = Result<ServerMessage, Failure>;

pub async fn list(app: &App, project: Option<ProjectId>) -> Answer {
    match project {
        Some(id) => app.keeping.of_project(&id).await,
        None => app.keeping.everywhere().await,
    }
}

pub async fn adopt(app: &App, project: ProjectId, cli_type: &CliType, refs: Vec<String>) -> Answer {
    app.keeping.adopt(&project, cli_type, &refs).await.map(sessions::ok)
}

pub async fn keep(app: &App, project: Option<ProjectId>, chosen: Option<Vec<SessionId>>) -> Answer {
    let chosen: Option<HashSet<SessionId>> = chosen.map(|chosen| chosen.into_iter().collect());
    app.keeping.keep(project.as_slice(), chosen).await.map(|_count| sessions::ok(()))
}

pub async fn stop(app: &App) -> Answer {
    app.keeping.stop().await.map(sessions::ok)
}

pub async fn set_automatic(app: &App, on: bool) -> Answer {
    app.keeping.set_automatic(on).await?;
    // What is there already is new, too.
    app.keeping.everywhere().await
}
