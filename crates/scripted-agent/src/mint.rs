//! New ids.

pub(crate) fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// An id as in model APIs: a prefix and 20 hexadecimal digits.
#[cfg(feature = "claude")]
pub(crate) fn api(prefix: &str) -> String {
    let digits = uuid().replace('-', "");
    format!("{prefix}{}", &digits[digits.len() - 20..])
}
