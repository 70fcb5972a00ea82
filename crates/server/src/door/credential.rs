//! The one secret: 256 random bits, kept in a file that only its owner can read.
//!
//! It has no `Debug`, no `Display` and no `Serialize`, so that it can't reach a log by accident.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// Hexadecimal digits of a secret.
const DIGITS: usize = 64;

/// The token, and the file it lives in.
pub struct Credential {
    file: PathBuf,
    token: RwLock<String>,
}

impl Credential {
    /// Reads the token of this data directory, or creates one.
    pub fn load_or_create(data_dir: &Path) -> Result<Self, CredentialError> {
        let file = data_dir.join("token");
        let token = match fs::read_to_string(&file) {
            Ok(text) => {
                let token = text.trim_end().to_owned();
                if token.len() != DIGITS || !token.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(CredentialError::Malformed { file });
                }
                restrict(&file)
                    .map_err(|source| CredentialError::Unreadable { file: file.clone(), source })?;
                token
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&file)?,
            Err(source) => return Err(CredentialError::Unreadable { file, source }),
        };
        Ok(Self { file, token: RwLock::new(token) })
    }

    /// Creates a new token for this data directory, even if the old one can't be read.
    pub fn replace(data_dir: &Path) -> Result<Self, CredentialError> {
        let file = data_dir.join("token");
        let token = make(&file)?;
        Ok(Self { file, token: RwLock::new(token) })
    }

    /// Creates a new token. The old one is invalid from now on.
    pub fn rotate(&self) -> Result<(), CredentialError> {
        // Held while the file is written, so that two rotations can't leave file and memory different.
        let mut token = self.token.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        *token = make(&self.file)?;
        Ok(())
    }

    pub fn matches(&self, presented: &str) -> bool {
        same_secret(&self.current(), presented)
    }

    /// For the two places that may show it: the terminal and `liminal token`.
    pub fn reveal(&self) -> String {
        self.current().clone()
    }

    /// Proves to a page that we know the token, without revealing it, before the page sends us the user's.
    ///
    /// The exact bytes, which `client/` computes with WebCrypto too:
    /// `hex(HMAC-SHA-256(key = UTF-8 of the token's 64 digits, message = UTF-8 of nonce + "\n" + origin))`,
    /// in lower case, where `origin` is the page's `location.origin`. Another program on our old port can't
    /// get the proof from us either: we answer only for our own addresses.
    pub fn prove(&self, nonce: &str, origin: &str) -> String {
        mac(&self.current(), &format!("{nonce}\n{origin}"))
    }

    /// The key of our proofs to this browser. It becomes invalid with the token.
    pub fn proof_key(&self, browser: &str) -> String {
        mac(&self.current(), &format!("browser\n{browser}"))
    }

    /// The key with which pages seal what they keep in the browser. It becomes invalid with the token. No proof that we
    /// give to strangers has this message.
    pub fn storage_key(&self) -> String {
        mac(&self.current(), "storage")
    }

    /// Proves to a logged-in browser that we are the server it knows, and that this challenge is ours.
    pub fn prove_to(&self, browser: &str, nonce: &str, origin: &str, challenge: &str) -> String {
        mac(&self.proof_key(browser), &format!("server\n{nonce}\n{origin}\n{challenge}"))
    }

    fn current(&self) -> std::sync::RwLockReadGuard<'_, String> {
        self.token.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Why there is no usable token.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    #[error(
        "cannot read {}: {source}; make it readable, or create a new token with \
         `liminal token --rotate`",
        file.display()
    )]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("{} doesn't contain a token; create one with `liminal token --rotate`", file.display())]
    Malformed { file: PathBuf },
    #[error("cannot write {}: {source}; free some disk space, or make its directory writable", file.display())]
    Unwritable { file: PathBuf, source: io::Error },
}

/// 256 random bits in hexadecimal.
pub(super) fn random_hex() -> String {
    let mut bytes = [0; DIGITS / 2];
    // This fails on no system we run on, and a predictable secret would be worse than no server.
    if let Err(error) = getrandom::fill(&mut bytes) {
        panic!("the system provides no randomness: {error}");
    }
    hex(&bytes)
}

/// Compares in a time that does not depend on where the two differ.
pub(super) fn same_secret(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

/// HMAC-SHA-256 over UTF-8, in lower-case hexadecimal, as `client/shared/hmac.js` computes it.
pub(super) fn mac(key: &str, message: &str) -> String {
    // HMAC takes keys of any length; the error exists for other constructions.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else {
        return String::new();
    };
    mac.update(message.as_bytes());
    hex(&mac.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a new token beside the old one and moves it into place, so that a reader finds either the old or the new.
fn make(file: &Path) -> Result<String, CredentialError> {
    let token = random_hex();
    let write = || -> io::Result<()> {
        let fresh = file.with_extension("new");
        let _none_left_over = fs::remove_file(&fresh);
        let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        writeln!(out, "{token}")?;
        out.sync_all()?;
        fs::rename(&fresh, file)
    };
    write().map_err(|source| CredentialError::Unwritable { file: file.to_owned(), source })?;
    Ok(token)
}

fn restrict(file: &Path) -> io::Result<()> {
    if fs::metadata(file)?.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    fs::set_permissions(file, fs::Permissions::from_mode(0o600))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_file_is_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        let first = Credential::load_or_create(dir.path()).unwrap().reveal();
        assert_eq!((first.len(), mode()), (64, 0o600));

        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let again = Credential::load_or_create(dir.path()).unwrap().reveal();
        assert_eq!((again, mode()), (first, 0o600));
    }

    #[test]
    fn rotating_voids_the_old_token() {
        let dir = tempfile::tempdir().unwrap();
        let credential = Credential::load_or_create(dir.path()).unwrap();
        let (old, sealed) = (credential.reveal(), credential.storage_key());
        assert_eq!(Credential::load_or_create(dir.path()).unwrap().storage_key(), sealed);
        credential.rotate().unwrap();
        assert!(!credential.matches(&old));
        assert_ne!(credential.storage_key(), sealed);
        assert!(credential.matches(&fs::read_to_string(dir.path().join("token")).unwrap()[..64]));
    }

    #[test]
    fn a_file_that_holds_no_token_is_not_taken_for_one() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "short", &"x".repeat(64)] {
            fs::write(dir.path().join("token"), text).unwrap();
            assert!(
                matches!(
                    Credential::load_or_create(dir.path()),
                    Err(CredentialError::Malformed { .. })
                ),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_proof_is_what_the_page_computes() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("token"), "0123456789abcdef".repeat(4)).unwrap();
        let credential = Credential::load_or_create(dir.path()).unwrap();
        // From: printf 'nonce-of-a-page\nhttp://127.0.0.1:3000' | openssl dgst -sha256 -hmac "$TOKEN"
        assert_eq!(
            credential.prove("nonce-of-a-page", "http://127.0.0.1:3000"),
            "ca51f1dc75ce70268c7ef6e2c205e05834b5a3d7b44de9a8ad2786c25af7d142"
        );
    }
}
