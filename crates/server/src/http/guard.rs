//! The checks that every request must pass, as layers around the routes.

use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use liminal_contract::ErrorCode;

use crate::app::App;
use crate::door::{OnVisit, Pass};
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

/// The one of our addresses that the request names, as an origin.
#[derive(Debug, Clone)]
pub struct OwnOrigin(pub String);

/// Served for any service worker script. We have none, so such a request means that another program installed a worker
/// when it had our address, and the browser now checks for an update. This one removes itself and its caches.
const FAREWELL_WORKER: &str = "\
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) await caches.delete(name)
  await clients.claim()
  const pages = await clients.matchAll({ type: 'window' })
  await registration.unregister()
  await Promise.allSettled(pages.map((page) => page.navigate(page.url)))
})()))
";

pub async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// `Host` must be ours, and `Origin`, if present, must belong to it. This keeps out pages of other sites: `Host` gives
/// away one whose name was pointed at 127.0.0.1, `Origin` any other.
pub async fn address(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    if let Some(ConnectInfo(OnVisit(visit))) = request.extensions().get() {
        visit.asks();
    }
    let host = named_host(&request);
    let own = host.and_then(|host| Some((app.addresses.origin_of(&host)?.to_owned(), host)));
    let Some((own_origin, host)) = own else {
        return refuse(
            "Liminal Builder doesn't answer at this address. Use the one it printed, or allow this \
             one with --allow-origin.",
        );
    };
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    let is_our_page = origins.all(|origin| {
        origin.to_str().is_ok_and(|origin| app.addresses.belong_together(&host, origin))
    });
    if !is_our_page {
        return refuse("Requests from other origins are refused. Allow one with --allow-origin.");
    }
    if request.headers().get("service-worker").is_some_and(|value| value == "script") {
        let headers = [
            (header::CONTENT_TYPE, "text/javascript"),
            (header::CACHE_CONTROL, "no-store"),
            // The worker may have been installed for more than its own directory.
            (HeaderName::from_static("service-worker-allowed"), "/"),
        ];
        return (headers, FAREWELL_WORKER).into_response();
    }
    request.extensions_mut().insert(OwnOrigin(own_origin));
    next.run(request).await
}

/// The `Host`, if there is exactly one and the request's target names no other: otherwise the host is ambiguous.
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

/// Requires the token or a ticket, as `Authorization: Bearer` or among the values of `Sec-WebSocket-Protocol`. Never in
/// the URL, because URLs end up in histories and logs.
pub async fn credential(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let own = request.extensions().get::<OwnOrigin>().map(|OwnOrigin(own)| own.as_str());
    let pass_of = |presented: &str| {
        if app.credential.matches(presented) {
            return Some(Pass::Token(presented.to_owned()));
        }
        app.logins.holder(presented, own?).map(Pass::Browser)
    };
    let headers = request.headers();
    let pass = bearer(headers).into_iter().chain(protocols(headers)).find_map(pass_of);
    let Some(pass) = pass else { return unauthorized().into_response() };
    if let Some(ConnectInfo(OnVisit(visit))) = request.extensions().get() {
        visit.is_logged_in();
    }
    request.extensions_mut().insert(pass);
    next.run(request).await
}

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

pub fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',').map(str::trim))
}
