use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[cfg(unix)]
use crate::limits::OPEN_FILES_WANTED;
use crate::limits::{
    ADDRESS_CONNECTIONS_MAX, ADDRESS_UNAUTHENTICATED_MAX, AUTH_TIME_MAX, BODY_TIME_MAX, CERTIFICATE_EVERY,
    CONNECTIONS_MAX, HEAD_TIME_MAX, UNAUTHENTICATED_MAX, WRITE_WAIT,
};

/// Limits for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Connections at the same time.
    pub connections: usize,
    /// Connections from one address at the same time.
    pub address_connections: usize,
    /// Connections at the same time that have not authenticated; one more ends the oldest of them.
    pub unauthenticated: usize,
    /// The same from one address.
    pub address_unauthenticated: usize,
    /// Time for the first byte and the head of a request.
    pub head_time: Duration,
    /// Time from the first byte, or from the last response, to a request with a credential.
    pub auth_time: Duration,
    /// Time for the body of a request; each kibibyte of it adds a second.
    pub body_time: Duration,
    /// Time that a client may read nothing of what is written to it.
    pub write_wait: Duration,
    /// Interval between two checks of the certificate files.
    pub certificate_every: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            connections: CONNECTIONS_MAX,
            address_connections: ADDRESS_CONNECTIONS_MAX,
            unauthenticated: UNAUTHENTICATED_MAX,
            address_unauthenticated: ADDRESS_UNAUTHENTICATED_MAX,
            head_time: HEAD_TIME_MAX,
            auth_time: AUTH_TIME_MAX,
            body_time: BODY_TIME_MAX,
            write_wait: WRITE_WAIT,
            certificate_every: CERTIFICATE_EVERY,
        }
    }
}

/// Raises the limit of open files to the number that subscribers need, as far as the hard limit allows.
/// Returns the limit before.
///
/// Child processes inherit the limit, and should get the earlier one back with [`limit_open_files`]: programs
/// that use `select` fail with file descriptors above 1,024, and some close every number up to the limit when
/// they start another.
#[cfg(unix)]
pub fn raise_open_files() -> std::io::Result<Option<u64>> {
    let before = getrlimit(Resource::Nofile);
    let wanted = before.maximum.map_or(OPEN_FILES_WANTED, |most| most.min(OPEN_FILES_WANTED));
    if before.current.is_some_and(|now| now < wanted) {
        limit_open_files(wanted)?;
    }
    Ok(before.current)
}

/// Sets the limit of open files of this process.
#[cfg(unix)]
pub fn limit_open_files(count: u64) -> std::io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(count), maximum })?)
}
