//! New ids.

/// A UUID.
pub(crate) fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// An id as an API gives them: a prefix and 20 hexadecimal digits.
pub(crate) fn api(prefix: &str) -> String {
    let digits = uuid().replace('-', "");
    format!("{prefix}{}", &digits[digits.len() - 20..])
}
