//! The calls around the door: health, proof, login, and a new token.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use liminal_contract::{About, ErrorCode, Health, Login, Proof, Token};

use super::answer::JsonBody;
use super::guard::{Host, unauthorized};
use crate::app::App;
use crate::failure::Failure;
use crate::ws::Closing;

/// `GET /api/health`.
pub async fn health() -> Json<Health> {
    Json(Health { version: env!("CARGO_PKG_VERSION").to_owned() })
}

/// `GET /api/prove?nonce=`: lets a page find out whether we know the token before it presents it. See
/// [`Credential::prove`](crate::door::Credential::prove) for the bytes.
pub async fn prove(
    State(app): State<Arc<App>>,
    Extension(Host(host)): Extension<Host>,
    uri: Uri,
) -> Result<Json<Proof>, Failure> {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    let nonce = pairs.find_map(|pair| pair.strip_prefix("nonce=")).unwrap_or_default();
    // Plain characters alone, so that it needs no decoding and can't be taken for another message.
    let is_plain = nonce.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if !is_plain || !(16..=128).contains(&nonce.len()) {
        return Err(Failure::invalid("`nonce` must be 16 to 128 letters, digits, '-' and '_'"));
    }
    let origin = app.addresses.origin_of(&host).ok_or_else(unauthorized)?;
    Ok(Json(Proof { proof: app.credential.prove(nonce, origin) }))
}

/// `POST /api/login`: the token for a one-time code, or for itself.
pub async fn login(
    State(app): State<Arc<App>>,
    JsonBody(login): JsonBody<Login>,
) -> Result<Json<Token>, Failure> {
    let is_good = match (&login.code, &login.token) {
        (Some(code), None) => app.codes.redeem(code, Instant::now()),
        (None, Some(token)) => app.credential.matches(token),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::invalid("give either `code` or `token`"));
        }
    };
    if is_good { Ok(Json(Token { token: app.credential.reveal() })) } else { Err(unauthorized()) }
}

/// `GET /api/about`: what the settings show to read.
pub async fn about(State(app): State<Arc<App>>) -> Json<About> {
    Json(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data_dir: app.data_dir.display().to_string(),
    })
}

/// `POST /api/token/rotate`: for `liminal token --rotate`. The new token is in its file, not in the answer.
pub async fn rotate(State(app): State<Arc<App>>) -> Response {
    if let Err(error) = app.credential.rotate() {
        return Failure::new(ErrorCode::StoreFull, error.to_string()).into_response();
    }
    app.codes.void();
    app.hub.close_all(Closing::CredentialVoid);
    StatusCode::NO_CONTENT.into_response()
}

/// `POST /api/code`: a one-time code, for a second `liminal` that opens the browser of the first.
pub async fn code(State(app): State<Arc<App>>) -> String {
    app.codes.issue(Instant::now())
}

/// What nobody answers.
pub async fn unknown() -> Response {
    (
        StatusCode::NOT_FOUND,
        Json(Failure::invalid("there is no such call; docs/protocol.md has them all").into_body()),
    )
        .into_response()
}
