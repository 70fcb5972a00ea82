//! Request bodies, and failures as HTTP responses.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;

use crate::failure::Failure;

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.http_status())
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self.into_body())).into_response()
    }
}

/// A JSON body, whatever its content type says: scripts forget the header, and it is the access checks that keep forms
/// of other sites out.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            let status = rejection.status();
            let what = if status == StatusCode::PAYLOAD_TOO_LARGE {
                "the body is longer than 1 MiB"
            } else {
                "the body could not be read"
            };
            (status, Json(Failure::invalid(what).into_body())).into_response()
        })?;
        // No body counts as an empty object, so that a call whose fields are all optional needs none.
        let bytes = if bytes.is_empty() { Bytes::from_static(b"{}") } else { bytes };
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| Failure::invalid(error).into_response())
    }
}
