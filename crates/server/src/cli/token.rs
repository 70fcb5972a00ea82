//! `liminal token`: shows the token, or replaces it, also under a running server.

use std::path::Path;

use super::Stopped;
use crate::data_dir;
use crate::door::Credential;
use crate::instance::Instance;
use crate::neighbour;

/// The token to print.
pub fn token(data_dir: &Path, rotate: bool) -> Result<String, Stopped> {
    let data_dir = data_dir::prepare(data_dir).map_err(Stopped::because)?;
    if rotate {
        match Instance::running(&data_dir) {
            Some(address) => rotate_running(&data_dir, &address)?,
            None => drop(Credential::replace(&data_dir).map_err(Stopped::because)?),
        }
    }
    Ok(Credential::load_or_create(&data_dir).map_err(Stopped::because)?.reveal())
}

/// The server does it itself, because it must also end every connection that came in with the old token.
fn rotate_running(data_dir: &Path, address: &str) -> Result<(), Stopped> {
    let old = Credential::load_or_create(data_dir).map_err(Stopped::because)?.reveal();
    let (status, _empty) =
        neighbour::post(address, "/api/token/rotate", &old).map_err(|error| {
            Stopped::because(format!(
                "the server at {address} does not answer: {error}; stop it, then try again"
            ))
        })?;
    if status == 204 {
        return Ok(());
    }
    Err(Stopped::because(format!(
        "the server at {address} did not replace the token (status {status}); stop it, then try again"
    )))
}
