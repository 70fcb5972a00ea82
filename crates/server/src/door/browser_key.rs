//! The key that a browser answers challenges with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, VerifyingKey};
use serde::{Deserialize, Serialize};

use super::credential::{mac, same_secret};

/// Registered at login.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BrowserKey {
    /// The public half of an ECDSA P-256 key pair whose private half can't leave the browser: the uncompressed
    /// point, in base64url.
    Public(String),
    /// A secret in the memory of one page, where the browser has no key store because the address is no secure
    /// context. Never written to disk.
    #[serde(skip)]
    PageSecret(String),
}

impl BrowserKey {
    /// A point of the curve.
    pub fn public(text: &str) -> Option<Self> {
        verifying(text).map(|_| Self::Public(text.to_owned()))
    }

    /// 64 hexadecimal digits.
    pub fn page_secret(text: &str) -> Option<Self> {
        let is_right = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        is_right.then(|| Self::PageSecret(text.to_owned()))
    }

    /// Whether it survives the page, and a restart of the server.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Public(_))
    }

    /// Whether `answer` was made with this key for `challenge`, in a page of `origin`.
    pub fn answers(&self, challenge: &str, origin: &str, answer: &str) -> bool {
        let message = format!("browser\n{origin}\n{challenge}");
        match self {
            Self::PageSecret(secret) => same_secret(&mac(secret, &message), answer),
            Self::Public(point) => {
                let signature = URL_SAFE_NO_PAD.decode(answer).ok();
                let signature = signature.and_then(|bytes| Signature::from_slice(&bytes).ok());
                verifying(point).zip(signature).is_some_and(|(key, signature)| {
                    key.verify(message.as_bytes(), &signature).is_ok()
                })
            }
        }
    }
}

fn verifying(point: &str) -> Option<VerifyingKey> {
    let bytes = URL_SAFE_NO_PAD.decode(point).ok()?;
    VerifyingKey::from_sec1_bytes(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with Node's WebCrypto, as `client/shared/door.js` does.
    const POINT: &str =
        "BNvQTR0tBTIi4fQtQbo08kD7UdRBxsN0jO4iYcdmtl3HYRsczozTwS0GrEJXCHmhzrmcA2mE6E8HSdBYk5PRklA";
    const ANSWER: &str =
        "Y727aXpo0jeBldlNv51JFBEJ8Ze5a_unq0WIPBt9igW961Xk487oQ52Y062k9Kx54lvmZBCi-sGsbFM0-DHGdg";

    #[test]
    fn what_a_browser_signed_is_recognised() {
        let key = BrowserKey::public(POINT).unwrap();
        let at = "http://127.0.0.1:3000";
        assert!(key.answers("challenge", at, ANSWER));
        assert!(!key.answers("another", at, ANSWER));
        assert!(!key.answers("challenge", "http://localhost:3000", ANSWER));
        for odd in ["", "x", "AAAA", &ANSWER[..84]] {
            assert!(!key.answers("challenge", at, odd), "{odd:?}");
        }
    }

    #[test]
    fn only_points_of_the_curve_and_whole_secrets_are_keys() {
        for odd in ["", "AAAA", &POINT[..80], &format!("{}AA", &POINT[..POINT.len() - 2])] {
            assert!(BrowserKey::public(odd).is_none(), "{odd:?}");
        }
        assert!(BrowserKey::page_secret(&"0".repeat(63)).is_none());
        assert!(BrowserKey::page_secret(&"x".repeat(64)).is_none());
        let key = BrowserKey::page_secret(&"0a".repeat(32)).unwrap();
        let answer = mac(&"0a".repeat(32), "browser\nhttp://box\nc");
        assert!(key.answers("c", "http://box", &answer));
        assert!(!key.answers("c", "http://other", &answer));
    }
}
