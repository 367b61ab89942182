//! Who is at the other end of a connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::Extensions;

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Somebody on the network, or a program on this machine.
    Tcp {
        /// Their address.
        remote: SocketAddr,
        /// The address of ours that they called.
        local: SocketAddr,
    },
    /// A program of the same user on this machine, as the system has said.
    Unix,
}

impl Peer {
    /// Who has sent a request. Where nobody says so it is somebody of this machine.
    pub(crate) fn of(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or(Peer::Unix)
    }

    /// The address of ours that was called.
    pub(crate) fn local(&self) -> Option<IpAddr> {
        match self {
            Peer::Tcp { local, .. } => Some(local.ip()),
            Peer::Unix => None,
        }
    }

    /// Those who are counted together. Whoever has one IPv6 address has 2^64 of them, so their network is counted.
    pub(crate) fn group(&self) -> IpAddr {
        match self {
            Peer::Unix => Ipv4Addr::UNSPECIFIED.into(),
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
        }
    }
}
