//! The addresses we listen on: the one that was asked for, and both loopback addresses with its port.
//!
//! `localhost` means 127.0.0.1 or ::1, whichever the browser picks. If another program had one of them, its page would
//! share an origin with ours, so we take both, or answer to no name that could lead to that program.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Once};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use liminal_agents::process::descriptors;
use tokio::net::{TcpListener, TcpStream};

use super::strangers::{Strangers, Visit, Visitor};

/// How many ports are tried when any will do and one of its loopback addresses is taken.
const TRIES: usize = 16;

/// A loopback address with our port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loopback {
    /// We listen there.
    Ours,
    /// This machine has no such address.
    Absent,
    /// Another program listens there.
    Taken,
}

pub struct Claim {
    listeners: Vec<TcpListener>,
    strangers: Arc<Strangers>,
    /// The address that was asked for, with the port we got.
    pub bound: SocketAddr,
    pub v4: Loopback,
    pub v6: Loopback,
}

impl Claim {
    /// Takes the address, and both loopback addresses with its port. It is an error to get neither
    /// loopback address, because then no name is certain to be ours.
    pub async fn take(host: IpAddr, port: u16) -> io::Result<Self> {
        let mut claim = Self::try_once(host, port).await?;
        for _ in 1..TRIES {
            if port != 0 || !claim.lacks_one() {
                break;
            }
            claim = Self::try_once(host, port).await?;
        }
        if claim.v4 != Loopback::Ours && claim.v6 != Loopback::Ours {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        Ok(claim)
    }

    async fn try_once(host: IpAddr, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((host, port)).await?;
        let bound = listener.local_addr()?;
        let is_v6_alone = rustix::net::sockopt::ipv6_v6only(&listener).unwrap_or(true);
        let covers_v4 = match bound.ip() {
            IpAddr::V4(ip) => ip.is_unspecified() || ip == Ipv4Addr::LOCALHOST,
            IpAddr::V6(ip) => ip.is_unspecified() && !is_v6_alone,
        };
        let covers_v6 = match bound.ip() {
            IpAddr::V4(_) => false,
            IpAddr::V6(ip) => ip.is_unspecified() || ip == Ipv6Addr::LOCALHOST,
        };
        let mut claim = Self {
            listeners: vec![listener],
            strangers: Arc::default(),
            bound,
            v4: Loopback::Ours,
            v6: Loopback::Ours,
        };
        if !covers_v4 {
            claim.v4 = claim.also(Ipv4Addr::LOCALHOST.into()).await;
        }
        if !covers_v6 {
            claim.v6 = claim.also(Ipv6Addr::LOCALHOST.into()).await;
        }
        Ok(claim)
    }

    async fn also(&mut self, ip: IpAddr) -> Loopback {
        match TcpListener::bind((ip, self.bound.port())).await {
            Ok(listener) => {
                self.listeners.push(listener);
                Loopback::Ours
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Loopback::Taken,
            Err(error) => {
                tracing::debug!(%ip, %error, "not listening on this address");
                Loopback::Absent
            }
        }
    }

    /// Where a program on this machine reaches us.
    pub fn local(&self) -> SocketAddr {
        let port = self.bound.port();
        match self.bound.ip() {
            ip if ip.is_loopback() => self.bound,
            IpAddr::V6(ip) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, port).into(),
            _ if self.v4 == Loopback::Ours => (Ipv4Addr::LOCALHOST, port).into(),
            _ => (Ipv6Addr::LOCALHOST, port).into(),
        }
    }

    /// For the terminal.
    pub fn warning(&self) -> Option<String> {
        let other = match (self.v4, self.v6) {
            (Loopback::Taken, _) => "127.0.0.1",
            (_, Loopback::Taken) => "[::1]",
            _ => return None,
        };
        let (port, local) = (self.bound.port(), self.local());
        Some(format!(
            "another program listens on {other} port {port}, so http://localhost:{port} may reach \
             that program and is not answered here; use http://{local}, or choose another port \
             with --port"
        ))
    }

    fn lacks_one(&self) -> bool {
        self.v4 == Loopback::Taken || self.v6 == Loopback::Taken
    }

    /// The next connection, wherever it arrives.
    async fn next(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let accepts = self.listeners.iter().map(|listener| Box::pin(listener.accept()));
        let (accepted, _, _) = futures_util::future::select_all(accepts).await;
        accepted
    }
}

impl Listener for Claim {
    type Io = Visitor;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Visitor, SocketAddr) {
        loop {
            match self.next().await {
                // Dropped: the remaining descriptors are reserved for the store and the agents.
                Ok((stream, _)) if descriptors::is_of_the_reserve(&stream) => {
                    static WARNED: Once = Once::new();
                    WARNED
                        .call_once(|| tracing::warn!("too many connections; new ones are closed"));
                }
                Ok((stream, address)) => {
                    // Small frames must not wait for each other.
                    let _only_slower = stream.set_nodelay(true);
                    return (self.strangers.admit(stream), address);
                }
                Err(error) if is_of_the_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "cannot accept connections");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.bound)
    }
}

/// The client gave up before we accepted; the next connection may work.
fn is_of_the_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// The connection of a request, as an extension of it.
#[derive(Clone)]
pub struct OnVisit(pub Arc<Visit>);

impl Connected<IncomingStream<'_, Claim>> for OnVisit {
    fn connect_info(stream: IncomingStream<'_, Claim>) -> Self {
        Self(stream.io().visit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_loopback_addresses_are_taken_where_there_are_two() {
        let claim = Claim::take(Ipv4Addr::LOCALHOST.into(), 0).await.unwrap();
        assert_eq!(claim.v4, Loopback::Ours);
        assert_ne!(claim.v6, Loopback::Taken);
        assert_eq!((claim.local(), claim.warning()), (claim.bound, None));
        let port = claim.bound.port();
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.is_err());
        assert!(TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await.is_err());
    }

    #[tokio::test]
    async fn all_addresses_include_those_of_loopback() {
        for host in [IpAddr::from(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()] {
            let Ok(claim) = Claim::take(host, 0).await else { continue };
            assert_eq!(claim.v4, Loopback::Ours);
            assert!(claim.local().ip().is_loopback());
        }
    }

    #[tokio::test]
    async fn what_another_program_has_is_not_ours() {
        let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = other.local_addr().unwrap().port();
        assert!(Claim::take(Ipv4Addr::LOCALHOST.into(), port).await.is_err());
        let claim = Claim::take(IpAddr::from([127, 0, 0, 2]), port).await;
        // Without ::1 there is no loopback address left.
        if let Ok(claim) = claim {
            assert_eq!((claim.v4, claim.v6), (Loopback::Taken, Loopback::Ours));
            assert!(claim.warning().unwrap().contains("127.0.0.1"));
        }
    }
}
