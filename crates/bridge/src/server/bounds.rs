//! Limits for clients: connections, times, and the open files that they need.

use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[cfg(unix)]
use crate::limits::OPEN_FILES_WANTED;
use crate::limits::{
    ADDRESS_CONNECTIONS_MAX, ADDRESS_UNAUTHENTICATED_MAX, AUTH_TIME_MAX, BODY_TIME_MAX, CERTIFICATE_EVERY,
    CONNECTIONS_MAX, FIRST_REQUEST_TIME, HEAD_TIME_MAX, REFUSED_MAX, UNAUTHENTICATED_MAX, WRITE_WAIT,
};

/// Limits for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Connections at the same time.
    pub connections: usize,
    /// Connections from one address at the same time.
    pub address_connections: usize,
    /// Connections at the same time that have not authenticated; one more refuses the oldest of them, if it
    /// had its time for a first request.
    pub unauthenticated: usize,
    /// The same from one address.
    pub address_unauthenticated: usize,
    /// Time in which a connection is not refused in favour of another, unless all room is taken.
    pub first_request_time: Duration,
    /// Refused connections at the same time: their requests are answered with the time after which to come
    /// again. One more closes the oldest of them.
    pub refused: usize,
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
            first_request_time: FIRST_REQUEST_TIME,
            refused: REFUSED_MAX,
            head_time: HEAD_TIME_MAX,
            auth_time: AUTH_TIME_MAX,
            body_time: BODY_TIME_MAX,
            write_wait: WRITE_WAIT,
            certificate_every: CERTIFICATE_EVERY,
        }
    }
}

impl Bounds {
    /// The same bounds with fewer connections, if this process may open few files: a connection that cannot
    /// be opened cannot be answered either, and agents and the journal need some.
    #[cfg(unix)]
    pub(super) fn within_open_files(self) -> Self {
        let limit = getrlimit(Resource::Nofile).current;
        let files = limit.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
        self.within(files)
    }

    #[cfg(not(unix))]
    pub(super) fn within_open_files(self) -> Self {
        self
    }

    /// The same bounds for a process that may open this number of files: half of them for connections, a
    /// quarter for refused ones.
    #[cfg(unix)]
    fn within(self, files: usize) -> Self {
        Bounds { connections: self.connections.min(files / 2), refused: self.refused.min(files / 4), ..self }
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn k30_connections_leave_files_for_agents_and_the_journal() {
        let few = Bounds::default().within(1024);
        assert!(few.connections + few.refused <= 1024 * 3 / 4, "{few:?}");
        assert_eq!(Bounds::default().within(16_384), Bounds::default());
    }
}
