//! The limit on open files and sockets, and the part of it we keep in reserve.
//!
//! The system assigns the lowest free number, so a new descriptor with a high number means that nearly all are taken.
//! Anything clients and agents can multiply (connections, terminals) stops [`RESERVE`] below the limit. The rest is
//! for the store and for new agents.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for the store and about twenty agents, which need eight each while they start.
const RESERVE: u64 = 256;

/// More than this is never needed, and some systems refuse what they call unlimited.
const MOST: u64 = 65_536;

/// The limit before we raised it. Our children get it back, because some programs still can't handle more than 1024.
static BEFORE: OnceLock<Option<u64>> = OnceLock::new();

/// Raises our limit as far as the system allows. Call once, at start.
pub fn raise_limit() {
    let before = getrlimit(Resource::Nofile);
    BEFORE.get_or_init(|| before.current);
    let most = before.maximum.map_or(MOST, |most| most.min(MOST));
    if before.current.is_some_and(|current| current < most) {
        let wanted = Rlimit { current: Some(most), maximum: before.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, wanted) {
            tracing::info!(%error, "could not raise the limit on open files");
        }
    }
}

/// The limit for our children, if it differs from ours.
pub(super) fn limit_before() -> Option<u64> {
    BEFORE.get().copied().flatten()
}

/// Gives this process the limit that the server had originally.
pub(super) fn set_limit(current: u64) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _keeps_ours_then = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum });
}

/// Whether this new descriptor is in the reserve.
pub fn is_of_the_reserve(descriptor: impl AsFd) -> bool {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    // Under a very low limit, the reserve is half of it.
    let reserve = RESERVE.min(limit / 2);
    u64::try_from(descriptor.as_fd().as_raw_fd()).is_ok_and(|number| number >= limit - reserve)
}

/// Whether only the reserve is free.
pub fn are_scarce() -> bool {
    File::open("/dev/null").map_or(true, is_of_the_reserve)
}
