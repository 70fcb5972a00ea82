//! `liminal token`: prints the token, or replaces it, even while the server runs.

use std::path::Path;

use crate::data_dir;
use crate::door::{Credential, forget_all};
use crate::instance::Instance;
use crate::neighbour;
use crate::terminal::Stopped;

pub fn token(data_dir: &Path, rotate: bool) -> Result<String, Stopped> {
    let data_dir = data_dir::prepare(data_dir).map_err(Stopped::because)?;
    if rotate {
        match Instance::running(&data_dir) {
            Some(address) => rotate_running(&data_dir, &address)?,
            None => {
                forget_all(&data_dir).map_err(Stopped::because)?;
                drop(Credential::replace(&data_dir).map_err(Stopped::because)?);
            }
        }
    }
    Ok(Credential::load_or_create(&data_dir).map_err(Stopped::because)?.reveal())
}

/// The running server does it, because it must also log out every browser and end every connection.
fn rotate_running(data_dir: &Path, address: &str) -> Result<(), Stopped> {
    let old = Credential::load_or_create(data_dir).map_err(Stopped::because)?.reveal();
    let (status, _empty) =
        neighbour::post(address, "/api/token/rotate", &old).map_err(|error| {
            Stopped::because(format!(
                "the server at {address} is not responding: {error}; stop it, then try again"
            ))
        })?;
    if status == 204 {
        return Ok(());
    }
    Err(Stopped::because(format!(
        "the server at {address} did not replace the token (status {status}); stop it, then try again"
    )))
}
