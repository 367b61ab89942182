//! The remote end of a connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::Extensions;

/// The remote end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A client over TCP.
    Tcp {
        /// The address of the client.
        remote: SocketAddr,
        /// The local address of the connection.
        local: SocketAddr,
    },
    /// A program of the same user on this machine, as the operating system has verified.
    Unix,
    /// A client that the connection says nothing about. It is not trusted.
    Unknown,
}

impl Peer {
    /// The peer in the extensions of a request; [`Peer::Unknown`] if there is none.
    pub(crate) fn of(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or(Peer::Unknown)
    }

    /// The local address of the connection.
    pub(crate) fn local(&self) -> Option<IpAddr> {
        match self {
            Peer::Tcp { local, .. } => Some(local.ip()),
            Peer::Unix | Peer::Unknown => None,
        }
    }

    /// The address by which requests are counted. An IPv6 client usually has 2^64 addresses, so its /64
    /// network is counted.
    pub(crate) fn group(&self) -> IpAddr {
        match self {
            Peer::Unix => Ipv4Addr::UNSPECIFIED.into(),
            Peer::Unknown => Ipv6Addr::UNSPECIFIED.into(),
            Peer::Tcp { remote, .. } => match remote.ip().to_canonical() {
                IpAddr::V4(address) => address.into(),
                IpAddr::V6(address) => {
                    let [a, b, c, d, ..] = address.segments();
                    Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
                }
            },
        }
    }
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Peer::Tcp { remote, .. } => write!(f, "{}", remote.ip()),
            Peer::Unix => f.write_str("unix"),
            Peer::Unknown => f.write_str("unknown"),
        }
    }
}
