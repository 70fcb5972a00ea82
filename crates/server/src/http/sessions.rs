//! The session routes: the service over HTTP, with the paths, codes and bodies of the contract.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use liminal_agents::ProviderError;
use liminal_contract::{
    CliType, CreateSession, ErrorCode, ItemId, ProjectId, SendAccepted, SendMessage, ServerMessage,
    SessionHandle, SessionId, Sessions,
};
use serde::Deserialize;

use super::answer::JsonBody;
use super::download;
use crate::app::App;
use crate::failure::Failure;
use crate::projects::{ProjectError, ProjectPath, RefusedPath};
use crate::sessions::{Format, Send};

type Answer = Result<Response, Failure>;

/// The routes, to be put behind the door.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/session/create", post(create))
        .route("/api/session/list", get(list))
        .route("/api/session/{id}/load", post(load))
        .route("/api/session/{id}/status", get(status))
        .route("/api/session/{id}/send", post(send))
        .route("/api/session/{id}/cancel", post(cancel))
        .route("/api/session/{id}/kill", post(kill))
        .route("/api/session/{id}/export", get(export))
        .route("/api/session/{id}/item/{item}/output", get(output))
        .route("/api/session/{id}/image/{name}", get(image))
}

async fn create(State(app): State<Arc<App>>, JsonBody(body): JsonBody<CreateSession>) -> Answer {
    let cli_type = CliType::parse(&body.cli_type).map_err(|_| unsupported(&body.cli_type))?;
    let project = match (body.project_id, body.project_dir) {
        (Some(id), _) => app.projects.get(&id)?,
        (None, Some(dir)) => {
            let path = tokio::task::spawn_blocking(move || ProjectPath::resolve(&dir)).await;
            let path = path.map_err(|_panicked| Failure::unexpected())?;
            // What can't be a project is none.
            let path =
                path.map_err(|RefusedPath { path, reason }| ProjectError::NotAt { path, reason })?;
            app.projects.at(&path)?
        }
        (None, None) => {
            let message = "`projectId` is missing. Name the project by it or by `projectDir`.";
            return Err(Failure::new(ErrorCode::ProjectIdRequired, message));
        }
    };
    let session = app.service.create(&project.id, &cli_type, body.policy).await?;
    app.hub.broadcast(ServerMessage::SessionCreated {
        session_id: session.id.clone(),
        project_id: session.project_id.clone(),
        session: session.clone(),
    });
    let handle = SessionHandle { session_id: session.id, cli_type };
    Ok((StatusCode::CREATED, Json(handle)).into_response())
}

async fn load(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    let session_id = session_id(&id)?;
    app.service.load(&session_id).await?;
    let cli_type = session_id.cli_type();
    Ok(Json(SessionHandle { session_id, cli_type }).into_response())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InProject {
    project_id: Option<String>,
}

async fn list(State(app): State<Arc<App>>, Query(query): Query<InProject>) -> Answer {
    let Some(project) = query.project_id.filter(|id| !id.is_empty()) else {
        let message = "`projectId` is missing. Ask for the sessions of one project.";
        return Err(Failure::new(ErrorCode::ProjectIdRequired, message));
    };
    let sessions = app.service.attached(&ProjectId::new(project)).await?;
    Ok(Json(Sessions { sessions }).into_response())
}

async fn status(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    Ok(Json(app.service.status(&session_id(&id)?).await?).into_response())
}

async fn send(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    JsonBody(SendMessage { content, request_id }): JsonBody<SendMessage>,
) -> Answer {
    let session = session_id(&id)?;
    let turn_id = app.service.send(Send { session, content, request_id }).await?;
    Ok((StatusCode::ACCEPTED, Json(SendAccepted { turn_id })).into_response())
}

async fn cancel(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    app.service.cancel(&session_id(&id)?).await?;
    Ok(StatusCode::OK.into_response())
}

async fn kill(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    app.service.kill(&session_id(&id)?).await?;
    Ok(StatusCode::OK.into_response())
}

#[derive(Deserialize)]
struct InFormat {
    format: Option<String>,
}

async fn export(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(query): Query<InFormat>,
) -> Answer {
    let (format, mime_type, extension) = match query.format.as_deref() {
        None | Some("md") => (Format::Markdown, "text/markdown; charset=utf-8", "md"),
        Some("json") => (Format::Json, "application/json", "json"),
        Some(_) => return Err(Failure::invalid("`format` is md or json")),
    };
    let text = app.service.export(&session_id(&id)?, format)?;
    Ok(download::file(mime_type, &format!("session.{extension}"), text))
}

async fn output(
    State(app): State<Arc<App>>,
    Path((id, item)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer {
    let output = app.service.output(&session_id(&id)?, ItemId::new(item)).await?;
    Ok(download::output(&headers, output))
}

async fn image(State(app): State<Arc<App>>, Path((id, name)): Path<(String, String)>) -> Answer {
    let (mime_type, bytes) = app.service.image(&session_id(&id)?, name).await?;
    Ok(([(header::CONTENT_TYPE, mime_type)], bytes).into_response())
}

/// What is not even the form of an id names no session.
fn session_id(text: &str) -> Result<SessionId, Failure> {
    SessionId::parse(text).map_err(|why| {
        Failure::new(ErrorCode::SessionNotFound, format!("Session not found: {why}."))
    })
}

/// What is not even the form of an agent's id names no agent.
fn unsupported(cli_type: &str) -> Failure {
    ProviderError::Unsupported { cli_type: cli_type.chars().take(64).collect() }.into()
}
