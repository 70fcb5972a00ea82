//! The checks every request passes, as layers around the routes.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use liminal_contract::ErrorCode;

use crate::app::App;
use crate::failure::Failure;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; \
    img-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; \
    require-trusted-types-for 'script'; trusted-types liminal";

/// On every response, refusals included.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// The `Host` that passed, for who needs it.
#[derive(Debug, Clone)]
pub struct Host(pub String);

/// The credential that passed, for the socket that must be closed when it is replaced.
#[derive(Clone)]
pub struct Presented(pub String);

/// Adds the headers.
pub async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// `Host` must be ours, and a present `Origin` must be its page's. Against pages of other sites: one whose name
/// was pointed at 127.0.0.1 gives itself away by the first, any other by the second.
pub async fn address(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let Some(host) = named_host(&request).filter(|host| app.addresses.origin_of(host).is_some())
    else {
        return refuse(
            "This address is not one of Liminal Builder's. Use the one it printed, or allow this one with --allow-origin.",
        );
    };
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    let is_our_page = origins.all(|origin| {
        origin.to_str().is_ok_and(|origin| app.addresses.belong_together(&host, origin))
    });
    if !is_our_page {
        return refuse(
            "Requests from pages of other origins are refused. Allow one with --allow-origin.",
        );
    }
    request.extensions_mut().insert(Host(host));
    next.run(request).await
}

/// The one `Host`. Of a request with two, or whose target names another, nobody knows who it was meant for.
fn named_host(request: &Request) -> Option<String> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    let target_agrees =
        request.uri().authority().is_none_or(|target| target.as_str().eq_ignore_ascii_case(host));
    (hosts.next().is_none() && target_agrees).then(|| host.to_owned())
}

fn refuse(message: &str) -> Response {
    let body = Failure::new(ErrorCode::Unauthorized, message).into_body();
    (StatusCode::FORBIDDEN, Json(body)).into_response()
}

/// The token, as `Authorization: Bearer` or among the values of `Sec-WebSocket-Protocol`. Nowhere else: what is in
/// a URL ends up in histories and logs.
pub async fn credential(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let presented = bearer(request.headers())
        .into_iter()
        .chain(protocols(request.headers()))
        .find(|presented| app.credential.matches(presented))
        .map(str::to_owned);
    let Some(presented) = presented else { return unauthorized().into_response() };
    request.extensions_mut().insert(Presented(presented));
    next.run(request).await
}

/// How to get in.
pub fn unauthorized() -> Failure {
    Failure::new(
        ErrorCode::Unauthorized,
        "Open the link that liminal printed in the terminal, or paste the token that `liminal token` prints.",
    )
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',').map(str::trim))
}
