//! The session routes: the service over HTTP, with the paths, status codes and bodies of the contract.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use liminal_agents::ProviderError;
use liminal_contract::{
    CliType, CreateSession, ErrorCode, ItemId, Project, ProjectId, SendAccepted, SendMessage,
    ServerMessage, SessionHandle, SessionId, Sessions, WhenBusy,
};
use serde::Deserialize;

use super::answer::JsonBody;
use super::download;
use crate::app::App;
use crate::failure::Failure;
use crate::projects::{ProjectError, ProjectPath, RefusedPath};
use crate::sessions::{Format, Send, Sent, SessionRequest, Start};

type Answer = Result<Response, Failure>;

pub async fn create(
    State(app): State<Arc<App>>,
    JsonBody(body): JsonBody<CreateSession>,
) -> Answer {
    let cli_type = CliType::parse(&body.cli_type).map_err(|_| unsupported(&body.cli_type))?;
    // Checked first, so that a failed request adds no project.
    app.service.around().registry.resolve(&cli_type)?;
    let project = match (body.project_id, body.project_dir) {
        (Some(id), _) => app.projects.get(&id)?,
        (None, Some(dir)) => {
            let path = tokio::task::spawn_blocking(move || ProjectPath::resolve(&dir)).await;
            let path = path.map_err(|_panicked| Failure::unexpected())?;
            // A path that can't be a project is reported as a project that doesn't exist.
            let path =
                path.map_err(|RefusedPath { path, reason }| ProjectError::NotAt { path, reason })?;
            project_at(&app, path).await?
        }
        (None, None) => {
            let message = "Name the project with `projectId` or `projectDir`.";
            return Err(Failure::new(ErrorCode::ProjectIdRequired, message));
        }
    };
    let start = Start {
        policy: body.policy,
        worktree: None,
        options: body.options,
        confirmed: body.confirmed == Some(true),
        request: None,
    };
    let session = app.service.create(&project.id, &cli_type, start, None).await?;
    app.hub.broadcast(ServerMessage::SessionCreated {
        session_id: session.id.clone(),
        project_id: session.project_id.clone(),
        session: session.clone(),
    });
    let handle = SessionHandle { session_id: session.id, cli_type };
    Ok((StatusCode::CREATED, Json(handle)).into_response())
}

/// The project of a directory, which becomes one if necessary.
pub(super) async fn project_at(app: &Arc<App>, path: ProjectPath) -> Result<Project, ProjectError> {
    let others = app.clone();
    let tell = move |project: &Project| {
        others.hub.broadcast(ServerMessage::ProjectAdded { project: project.clone() });
    };
    match app.projects.add(path, tell).await {
        Err(ProjectError::Duplicate { existing }) => Ok(existing),
        added => added,
    }
}

pub async fn load(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    let session_id = session_id(&id)?;
    app.service.ask(&session_id, SessionRequest::Load).await?;
    let cli_type = session_id.cli_type();
    Ok(Json(SessionHandle { session_id, cli_type }).into_response())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InProject {
    project_id: Option<String>,
}

pub async fn list(State(app): State<Arc<App>>, Query(query): Query<InProject>) -> Answer {
    let Some(project) = query.project_id.filter(|id| !id.is_empty()) else {
        let message = "`projectId` is missing. Name the project whose sessions to list.";
        return Err(Failure::new(ErrorCode::ProjectIdRequired, message));
    };
    let sessions = app.service.attached(&ProjectId::new(project)).await?;
    Ok(Json(Sessions { sessions }).into_response())
}

pub async fn status(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    Ok(Json(app.service.status(&session_id(&id)?).await?).into_response())
}

pub async fn send(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    JsonBody(SendMessage { content, attachments, request_id }): JsonBody<SendMessage>,
) -> Answer {
    let session = session_id(&id)?;
    let when_busy = WhenBusy::Refuse;
    let about = session.clone();
    let send = Send { session, content, attachments, request_id, when_busy, sender: None };
    let turn_id = match app.service.send(send).await? {
        Sent::Began(turn_id) => turn_id,
        // Sent before, over the socket.
        Sent::Queued { .. } => {
            let waits = "This message is in the queue. It is sent when the agent has finished.";
            return Err(Failure::new(ErrorCode::SessionBusy, waits).about(about));
        }
    };
    Ok((StatusCode::ACCEPTED, Json(SendAccepted { turn_id })).into_response())
}

pub async fn cancel(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    app.service.ask(&session_id(&id)?, SessionRequest::Cancel).await?;
    Ok(StatusCode::OK.into_response())
}

pub async fn kill(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    app.service.ask(&session_id(&id)?, SessionRequest::Kill).await?;
    Ok(StatusCode::OK.into_response())
}

#[derive(Deserialize)]
pub struct InFormat {
    format: Option<String>,
}

pub async fn export(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(query): Query<InFormat>,
) -> Answer {
    let (format, mime_type) = match query.format.as_deref() {
        None | Some("md") => (Format::Markdown, "text/markdown; charset=utf-8"),
        Some("json") => (Format::Json, "application/json"),
        Some(_) => return Err(Failure::invalid("`format` must be `md` or `json`")),
    };
    let session = session_id(&id)?;
    let attached = app.service.attached_to(&session).await?;
    if attached.is_empty() {
        let text = app.service.export(&session, format)?;
        return Ok(download::file(mime_type, &format!("session.{}", format.extension()), text));
    }
    let archive = app.service.export_zip(&session, format, attached, &app.data_dir).await?;
    Ok(download::file("application/zip", "session.zip", archive))
}

pub async fn output(
    State(app): State<Arc<App>>,
    Path((id, item)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer {
    let output = app.service.output(&session_id(&id)?, ItemId::new(item)).await?;
    Ok(download::output(&headers, output))
}

pub async fn image(
    State(app): State<Arc<App>>,
    Path((id, name)): Path<(String, String)>,
) -> Answer {
    let (mime_type, bytes) = app.service.image(&session_id(&id)?, name).await?;
    Ok(([(header::CONTENT_TYPE, mime_type)], bytes).into_response())
}

/// Text that isn't a valid id names no session.
fn session_id(text: &str) -> Result<SessionId, Failure> {
    SessionId::parse(text).map_err(|why| {
        Failure::new(ErrorCode::SessionNotFound, format!("Session not found: {why}."))
    })
}

/// Text that isn't a valid agent id names no agent.
fn unsupported(cli_type: &str) -> Failure {
    ProviderError::Unsupported { cli_type: cli_type.chars().take(64).collect() }.into()
}
