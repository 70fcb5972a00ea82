//! Who gets in: the `Host` and `Origin` a request must name, and the credential it must carry.
//!
//! Everything behind the door can run commands as the user, so nothing here is lenient. The door knows no HTTP
//! route; `http.rs` decides which of its checks a route needs.

mod addresses;
mod credential;
mod one_time_code;

pub use addresses::{Addresses, AllowedOrigin};
pub use credential::Credential;
pub use one_time_code::OneTimeCodes;
