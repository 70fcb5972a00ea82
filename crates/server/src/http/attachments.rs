//! Attachments: stored before they are sent with a message, and read for as long as one refers to them.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use liminal_contract::ErrorCode;
use serde::Deserialize;

use crate::app::App;
use crate::failure::Failure;

type Answer = Result<Response, Failure>;

#[derive(Deserialize)]
pub struct Named {
    name: Option<String>,
}

/// `POST /api/attachment?name=`: the bytes of a picture or a text.
pub async fn store(
    State(app): State<Arc<App>>,
    Query(Named { name }): Query<Named>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Answer {
    let bytes = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let large =
                "Attachments can be at most 20 MiB. Make it smaller, or mention the file with @.";
            Failure::new(ErrorCode::AttachmentTooLarge, large)
        }
        _ => Failure::invalid("the body could not be read"),
    })?;
    let declared = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_declared_picture = declared.is_some_and(|declared| declared.starts_with("image/"));
    let attachment = app.service.attach(name, bytes.into(), is_declared_picture).await?;
    Ok((StatusCode::CREATED, Json(attachment)).into_response())
}

/// `GET /api/attachment/:id`.
pub async fn read(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer {
    let (mime_type, bytes) = app.service.attachment(id).await?;
    Ok(([(header::CONTENT_TYPE, mime_type)], bytes).into_response())
}
