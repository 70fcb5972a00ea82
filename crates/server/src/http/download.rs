//! Downloads of any length, produced as the client reads them.

use std::ops::Range;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;

use crate::journal::JournalError;
use crate::sessions::Output;

/// A file whose length is not known in advance.
pub fn file(
    mime_type: &'static str,
    name: &str,
    text: impl Stream<Item = Result<impl Into<Bytes> + 'static, JournalError>> + Send + 'static,
) -> Response {
    (headers(mime_type, name), Body::from_stream(text)).into_response()
}

/// An output, or the part of it that `Range` asks for.
pub fn output(asked: &HeaderMap, output: Output) -> Response {
    let total = output.bytes();
    let range = asked.get(header::RANGE).and_then(|range| range.to_str().ok());
    let (status, range) = match range.and_then(|range| part(range, total)) {
        None => (StatusCode::OK, 0..total),
        Some(range) if range.is_empty() => {
            let all = [(header::CONTENT_RANGE, format!("bytes */{total}"))];
            return (StatusCode::RANGE_NOT_SATISFIABLE, all).into_response();
        }
        Some(range) => (StatusCode::PARTIAL_CONTENT, range),
    };
    let mut answer = file("text/plain; charset=utf-8", "output.txt", output.read(range.clone()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_LENGTH, (range.end - range.start).into());
    headers.insert(header::ACCEPT_RANGES, header::HeaderValue::from_static("bytes"));
    if status == StatusCode::PARTIAL_CONTENT {
        let which = format!("bytes {}-{}/{total}", range.start, range.end - 1);
        headers.extend(which.parse().map(|which| (header::CONTENT_RANGE, which)));
    }
    answer
}

fn headers(mime_type: &'static str, name: &str) -> [(header::HeaderName, String); 2] {
    let disposition = format!("attachment; filename=\"{name}\"");
    [(header::CONTENT_TYPE, mime_type.to_owned()), (header::CONTENT_DISPOSITION, disposition)]
}

/// The part a `Range` asks for, empty if it is beyond the end. `None` for a form of `Range` that we don't support: then
/// the whole is sent.
fn part(asked: &str, total: u64) -> Option<Range<u64>> {
    let (first, last) = asked.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.parse::<u64>().ok();
    match (first, last) {
        ("", last) => Some(total.saturating_sub(number(last)?)..total),
        (first, "") => Some(number(first)?.min(total)..total),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then(|| first.min(total)..last.saturating_add(1).min(total))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn one_part_may_be_asked_for_and_what_is_not_understood_means_the_whole() {
        let cases = [
            ("bytes=0-3", Some(0..4)),
            ("bytes=2-", Some(2..10)),
            ("bytes=-4", Some(6..10)),
            ("bytes=-40", Some(0..10)),
            ("bytes=8-99", Some(8..10)),
            ("bytes=10-", Some(10..10)),
            ("bytes=0-18446744073709551615", Some(0..10)),
            ("bytes=3-2", None),
            ("bytes=0-1,4-5", None),
            ("lines=0-1", None),
            ("bytes=x-", None),
        ];
        for (asked, wanted) in cases {
            assert_eq!(part(asked, 10), wanted, "{asked}");
        }
    }
}
