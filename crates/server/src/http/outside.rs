//! Sessions made outside, for `liminal import`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use liminal_contract::{KeepOutside, KeepingProgress, Project};

use super::answer::JsonBody;
use super::sessions::project_at;
use crate::app::App;
use crate::failure::Failure;
use crate::projects::{ProjectError, ProjectPath};

/// `POST /api/outside/keep`: keeps the sessions of these directories, which become projects, and of the projects there
/// are if none is named.
pub async fn keep(
    State(app): State<Arc<App>>,
    JsonBody(KeepOutside { directories }): JsonBody<KeepOutside>,
) -> Result<Json<KeepingProgress>, Failure> {
    let mut projects = Vec::new();
    for directory in directories {
        projects.push(project_of(&app, directory).await?.id);
    }
    let count = app.keeping.keep(&projects, None).await?;
    // Nothing of what was kept earlier.
    Ok(Json(if count == 0 { KeepingProgress::default() } else { app.keeping.progress() }))
}

/// `GET /api/outside/keep`: how far that is.
pub async fn progress(State(app): State<Arc<App>>) -> Json<KeepingProgress> {
    Json(app.keeping.progress())
}

async fn project_of(app: &Arc<App>, directory: String) -> Result<Project, Failure> {
    let path = tokio::task::spawn_blocking(move || ProjectPath::resolve(&directory)).await;
    let path = path.map_err(|_panicked| Failure::unexpected())?.map_err(ProjectError::from)?;
    Ok(project_at(app, path).await?)
}
