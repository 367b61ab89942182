use std::time::Duration;

use crate::limits::{ADDRESS_CONNECTIONS_MAX, CONNECTIONS_MAX, HEAD_TIME_MAX, WRITE_WAIT};

/// How often the files of a certificate are looked at. Those of private networks are renewed every few weeks.
const CERTIFICATE_EVERY: Duration = Duration::from_secs(60);

/// What a server bears with its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Connections at the same time.
    pub connections: usize,
    /// Connections from one address at the same time.
    pub address_connections: usize,
    /// How long the head of a request may take.
    pub head_time: Duration,
    /// How long a client may take nothing of what is written to it.
    pub write_wait: Duration,
    /// How often the files of the certificate are looked at.
    pub certificate_every: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            connections: CONNECTIONS_MAX,
            address_connections: ADDRESS_CONNECTIONS_MAX,
            head_time: HEAD_TIME_MAX,
            write_wait: WRITE_WAIT,
            certificate_every: CERTIFICATE_EVERY,
        }
    }
}
