//! The addresses this server answers to, as pairs of `Host` and `Origin`.
//!
//! A page of another site can reach 127.0.0.1 as easily as ours can, but it can't choose these two headers.

use std::fmt;
use std::net::SocketAddr;

use super::claim::Loopback;

/// Every `Host` we answer to, with the `Origin` that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses(Vec<AllowedOrigin>);

impl Addresses {
    /// The loopback names that lead only to us, with our port, and the origins the user allowed.
    pub fn new(bound: SocketAddr, v4: Loopback, v6: Loopback, allowed: &[AllowedOrigin]) -> Self {
        let may_be_taken = [v4, v6].contains(&Loopback::Taken);
        let mut names: Vec<String> = [
            (v4 == Loopback::Ours, "127.0.0.1"),
            (!may_be_taken, "localhost"),
            (v6 == Loopback::Ours, "[::1]"),
        ]
        .into_iter()
        .filter(|(is_ours, _)| *is_ours)
        .map(|(_, name)| name.to_owned())
        .collect();
        // 127.0.0.2 is loopback too. An address literal can't be rebound, so it is safe as a Host.
        if bound.ip().is_loopback() {
            let own = url_host(bound);
            if !names.contains(&own) {
                names.push(own);
            }
        }
        let ours = names.into_iter().map(|name| AllowedOrigin::http(&name, bound.port()));
        Self(ours.chain(allowed.iter().cloned()).collect())
    }

    /// The origin of the page that a request with this `Host` belongs to; `None` when the `Host` is foreign.
    pub fn origin_of(&self, host: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|pair| pair.host.eq_ignore_ascii_case(host))
            .map(|pair| pair.origin.as_str())
    }

    /// Whether a page of `origin` may talk to us under the name `host`. The pair must match: an allowed origin
    /// does not open the other names.
    pub fn belong_together(&self, host: &str, origin: &str) -> bool {
        self.0.iter().any(|pair| pair.host.eq_ignore_ascii_case(host) && pair.origin == origin)
    }
}

/// One `Host` and `Origin` pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedOrigin {
    host: String,
    origin: String,
}

impl AllowedOrigin {
    /// Accepts only `http://host[:port]` and `https://host[:port]`.
    pub fn parse(text: &str) -> Result<Self, InvalidOrigin> {
        let lower = text.to_ascii_lowercase();
        let (scheme, default_port, rest) = if let Some(rest) = lower.strip_prefix("http://") {
            ("http", ":80", rest)
        } else if let Some(rest) = lower.strip_prefix("https://") {
            ("https", ":443", rest)
        } else {
            return Err(InvalidOrigin);
        };
        // Browsers leave out the port that the scheme implies, in both headers.
        let host = rest.strip_suffix('/').unwrap_or(rest);
        let host = host.strip_suffix(default_port).unwrap_or(host);
        if is_host(host) {
            Ok(Self { host: host.to_owned(), origin: format!("{scheme}://{host}") })
        } else {
            Err(InvalidOrigin)
        }
    }

    /// As a browser shows it in its address bar.
    pub fn as_str(&self) -> &str {
        &self.origin
    }

    fn http(name: &str, port: u16) -> Self {
        let host = if port == 80 { name.to_owned() } else { format!("{name}:{port}") };
        Self { origin: format!("http://{host}"), host }
    }
}

/// The text was not `http(s)://host[:port]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidOrigin;

impl fmt::Display for InvalidOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("is not of the form http://host[:port] or https://host[:port]")
    }
}

impl std::error::Error for InvalidOrigin {}

/// An address as it stands in a URL, without the port.
fn url_host(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

/// `name`, `name:port`, `[v6]` or `[v6]:port`.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((v6, rest)) => {
            if v6.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            ("v6", rest.strip_prefix(':').map_or((!rest.is_empty()).then_some(""), Some))
        }
        None => text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
    };
    let port_is_right =
        port.is_none_or(|port| port.parse::<u16>().is_ok_and(|n| n > 0 && n.to_string() == port));
    let is_name_byte = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    !name.is_empty() && name.bytes().all(is_name_byte) && port_is_right
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(bound: &str, allowed: &[&str]) -> Addresses {
        let allowed: Vec<_> =
            allowed.iter().map(|text| AllowedOrigin::parse(text).unwrap()).collect();
        Addresses::new(bound.parse().unwrap(), Loopback::Ours, Loopback::Ours, &allowed)
    }

    #[test]
    fn only_loopback_names_with_our_port_are_ours() {
        let ours = addresses("127.0.0.1:3000", &[]);
        for host in ["127.0.0.1:3000", "localhost:3000", "LOCALHOST:3000", "[::1]:3000"] {
            assert!(ours.origin_of(host).is_some(), "{host}");
        }
        for host in [
            "",
            "127.0.0.1",
            "127.0.0.1:3001",
            "localhost",
            "evil.example:3000",
            "localhost.:3000",
            "127.0.0.2:3000",
            "0.0.0.0:3000",
        ] {
            assert_eq!(ours.origin_of(host), None, "{host}");
        }
        assert_eq!(ours.origin_of("Localhost:3000"), Some("http://localhost:3000"));
    }

    #[test]
    fn a_name_that_may_lead_to_another_program_is_not_ours() {
        let bound = "127.0.0.1:3000".parse().unwrap();
        let ours = |v4, v6| {
            let addresses = Addresses::new(bound, v4, v6, &[]);
            ["127.0.0.1:3000", "localhost:3000", "[::1]:3000"]
                .map(|host| addresses.origin_of(host).is_some())
        };
        assert_eq!(ours(Loopback::Ours, Loopback::Ours), [true, true, true]);
        assert_eq!(ours(Loopback::Ours, Loopback::Absent), [true, true, false]);
        assert_eq!(ours(Loopback::Ours, Loopback::Taken), [true, false, false]);
    }

    #[test]
    fn the_port_that_browsers_leave_out_is_left_out() {
        assert!(addresses("127.0.0.1:80", &[]).belong_together("localhost", "http://localhost"));
        let proxied = addresses("127.0.0.1:3000", &["https://box.example:443"]);
        assert!(proxied.belong_together("box.example", "https://box.example"));
    }

    #[test]
    fn an_origin_belongs_to_its_own_host_alone() {
        let ours = addresses("127.0.0.1:3000", &["https://box.example"]);
        assert!(ours.belong_together("127.0.0.1:3000", "http://127.0.0.1:3000"));
        assert!(ours.belong_together("box.example", "https://box.example"));
        for (host, origin) in [
            ("127.0.0.1:3000", "http://localhost:3000"),
            ("127.0.0.1:3000", "http://127.0.0.1:3001"),
            ("127.0.0.1:3000", "https://127.0.0.1:3000"),
            ("127.0.0.1:3000", "https://box.example"),
            ("127.0.0.1:3000", "null"),
            ("127.0.0.1:3000", ""),
            ("box.example", "http://box.example"),
            ("box.example", "http://127.0.0.1:3000"),
        ] {
            assert!(!ours.belong_together(host, origin), "{host} {origin}");
        }
    }

    #[test]
    fn another_loopback_address_answers_to_its_own_name() {
        assert!(addresses("127.0.0.2:3000", &[]).origin_of("127.0.0.2:3000").is_some());
        assert!(addresses("0.0.0.0:3000", &[]).origin_of("0.0.0.0:3000").is_none());
    }

    #[test]
    fn an_allowed_origin_is_a_scheme_and_a_host() {
        for (text, origin) in [
            ("http://box:8080", "http://box:8080"),
            ("HTTPS://Box.Example/", "https://box.example"),
            ("http://box:80", "http://box"),
            ("https://box:80", "https://box:80"),
            ("http://[fd00::1]:3000", "http://[fd00::1]:3000"),
        ] {
            assert_eq!(AllowedOrigin::parse(text).unwrap().as_str(), origin, "{text}");
        }
        for text in [
            "",
            "*",
            "box",
            "ftp://box",
            "http://",
            "http://*",
            "http://box/path",
            "http://a@box",
            "http://box:0",
            "http://box:99999",
            "http://box:080",
            "http://[::1",
            "http://[::1]x",
            "http://box?x",
            "null",
        ] {
            assert_eq!(AllowedOrigin::parse(text), Err(InvalidOrigin), "{text}");
        }
    }
}
