//! The calls for access: health, proof, login, tickets, the logged-in browsers, and a new token.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use liminal_contract::{
    About, AskChallenge, AskTicket, Browsers, Challenge, ErrorCode, Health, LoggedIn, Login, Proof,
    Ticket,
};

use super::answer::JsonBody;
use super::guard::{OwnOrigin, unauthorized};
use crate::app::App;
use crate::door::{BrowserKey, NewLogin, Pass, TICKET_LIFETIME, plain_name};
use crate::failure::Failure;
use crate::feed::Closing;

/// `GET /api/health`.
pub async fn health() -> Json<Health> {
    Json(Health { version: env!("CARGO_PKG_VERSION").to_owned() })
}

/// `GET /api/prove?nonce=`: proves to a page that we know the token, before it sends us the user's. See
/// [`Credential::prove`](crate::door::Credential::prove) for the bytes.
pub async fn prove(
    State(app): State<Arc<App>>,
    Extension(OwnOrigin(origin)): Extension<OwnOrigin>,
    uri: Uri,
) -> Result<Json<Proof>, Failure> {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    let nonce = pairs.find_map(|pair| pair.strip_prefix("nonce=")).unwrap_or_default();
    check_nonce(nonce)?;
    Ok(Json(Proof { proof: app.credential.prove(nonce, &origin) }))
}

/// Only plain characters, so that it needs no decoding and can't be mistaken for another message.
fn check_nonce(nonce: &str) -> Result<(), Failure> {
    let is_plain = nonce.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if is_plain && (16..=128).contains(&nonce.len()) {
        return Ok(());
    }
    Err(Failure::invalid("`nonce` must be 16 to 128 letters, digits, '-' and '_'"))
}

/// `POST /api/login`: registers a browser's key, in exchange for a one-time code or the token.
pub async fn login(
    State(app): State<Arc<App>>,
    Extension(OwnOrigin(origin)): Extension<OwnOrigin>,
    headers: HeaderMap,
    JsonBody(login): JsonBody<Login>,
) -> Result<Json<LoggedIn>, Failure> {
    let key = match (&login.key, &login.page_secret) {
        (Some(key), None) => BrowserKey::public(key),
        (None, Some(secret)) => BrowserKey::page_secret(secret),
        (Some(_), Some(_)) | (None, None) => None,
    };
    let key = key.ok_or_else(|| {
        Failure::invalid("give either `key`, a P-256 public key, or `pageSecret`, 64 hex digits")
    })?;
    let _until_registered = app.logins.entering().await;
    let is_good = match (&login.code, &login.token) {
        (Some(code), None) => app.codes.redeem(code, Instant::now()),
        (None, Some(token)) => app.credential.matches(token),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::invalid("give either `code` or `token`"));
        }
    };
    if !is_good {
        return Err(unauthorized());
    }
    let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    let name = plain_name(user_agent.unwrap_or_default());
    let login = NewLogin { name, origin, key, replaces: login.replaces };
    let browser = app.logins.register(login).await?;
    Ok(Json(LoggedIn { proof_key: app.credential.proof_key(&browser), browser }))
}

/// `POST /api/challenge`: a challenge that a browser answers to get a ticket, with the proof that it is ours.
pub async fn challenge(
    State(app): State<Arc<App>>,
    Extension(OwnOrigin(origin)): Extension<OwnOrigin>,
    JsonBody(AskChallenge { browser, nonce }): JsonBody<AskChallenge>,
) -> Result<Json<Challenge>, Failure> {
    check_nonce(&nonce)?;
    let challenge = app.logins.challenge(&browser, &origin).ok_or_else(unauthorized)?;
    let proof = app.credential.prove_to(&browser, &nonce, &origin, &challenge);
    Ok(Json(Challenge { challenge, proof }))
}

/// `POST /api/ticket`: a ticket for the right answer.
pub async fn ticket(
    State(app): State<Arc<App>>,
    Extension(OwnOrigin(origin)): Extension<OwnOrigin>,
    JsonBody(AskTicket { browser, challenge, answer }): JsonBody<AskTicket>,
) -> Result<Json<Ticket>, Failure> {
    let ticket = app.logins.ticket(&browser, &origin, &challenge, &answer);
    let ticket = ticket.ok_or_else(unauthorized)?;
    let storage_key = app.credential.storage_key();
    Ok(Json(Ticket { ticket, seconds: TICKET_LIFETIME.as_secs(), storage_key }))
}

/// `GET /api/browsers`: the logged-in browsers.
pub async fn browsers(
    State(app): State<Arc<App>>,
    Extension(pass): Extension<Pass>,
) -> Result<Json<Browsers>, Failure> {
    Ok(Json(Browsers { browsers: app.logins.list(&pass)? }))
}

/// `DELETE /api/browsers/:id`: logs a browser out and closes its connections.
pub async fn log_out(
    State(app): State<Arc<App>>,
    Path(browser): Path<String>,
) -> Result<StatusCode, Failure> {
    if !app.logins.remove(&browser).await? {
        let message = "No such browser is logged in. It may have been logged out already.";
        return Err(Failure::new(ErrorCode::BrowserNotFound, message));
    }
    app.hub.close_browser(&browser, Closing::CredentialVoid);
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/about`: for the settings page.
pub async fn about(State(app): State<Arc<App>>) -> Json<About> {
    Json(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data_dir: app.data_dir.display().to_string(),
    })
}

/// `POST /api/token/rotate`: for `liminal token --rotate`. The new token is in its file, not in the answer.
pub async fn rotate(State(app): State<Arc<App>>) -> Response {
    let _nobody_logs_in = app.logins.turning_over().await;
    if let Err(error) = app.logins.void().await {
        return Failure::from(error).into_response();
    }
    let rotated = app.credential.rotate();
    // In either case: nobody is logged in any more. And afterwards, so that nobody stays with the old token.
    app.codes.void();
    app.hub.close_all(Closing::CredentialVoid);
    match rotated {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => Failure::new(ErrorCode::StoreFull, error.to_string()).into_response(),
    }
}

/// `POST /api/code`: a one-time code, for a second `liminal` that opens the page of the first.
pub async fn code(State(app): State<Arc<App>>) -> String {
    app.codes.issue(Instant::now())
}

pub async fn unknown() -> Response {
    (
        StatusCode::NOT_FOUND,
        Json(Failure::invalid("no such route; docs/protocol.md lists them all").into_body()),
    )
        .into_response()
}
