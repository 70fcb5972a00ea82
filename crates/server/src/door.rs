//! Who gets in: the `Host` and `Origin` a request must name, and the credential it must carry.
//!
//! Everything behind the door can run commands as the user, so nothing here is lenient. The door knows no HTTP
//! route; `http.rs` decides which of its checks a route needs.

mod addresses;
mod browser_key;
mod challenges;
mod claim;
mod credential;
mod logins;
mod one_time_code;
mod strangers;
mod tickets;
mod user_agent;

pub use addresses::{Addresses, AllowedOrigin};
pub use browser_key::BrowserKey;
pub use claim::{Claim, OnVisit};
pub use credential::Credential;
pub use logins::{DoorFile, Logins, NewLogin, Pass, forget_all};
pub use one_time_code::OneTimeCodes;
pub use tickets::LIFETIME as TICKET_LIFETIME;
pub use user_agent::plain_name;

/// A link to the page at `address` that logs a browser in. The random query keeps caches from answering it; the secret
/// is after the `#`, which browsers never send.
pub fn link(address: &str, kind: &str, secret: &str) -> String {
    let fresh = &credential::random_hex()[..8];
    format!("{address}/?{fresh}#{kind}={secret}")
}
