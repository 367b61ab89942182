//! Limits of the listening server.

use std::time::Duration;

/// Interval between two searches for events that are too old to keep. The bound is set in days, so an hour is
/// precise enough.
pub(crate) const RETAIN_EVERY: Duration = Duration::from_secs(60 * 60);

/// Send buffer of a connection; the kernel keeps about twice that. At a round trip of 100 ms it carries a
/// megabyte per second.
pub(crate) const SEND_BUFFER_BYTES: usize = 128 << 10;

/// Connections at the same time: a thousand subscribers, and room for plain requests.
pub(crate) const CONNECTIONS_MAX: usize = 4096;

/// Open files that the server requests from the kernel: for its connections, three for each running agent,
/// and its journal. The hard limit is not used, since it can be a thousand million.
#[cfg(unix)]
pub(crate) const OPEN_FILES_WANTED: u64 = 16_384;

/// Connections from one address at the same time. Behind a proxy, all clients share one address.
pub(crate) const ADDRESS_CONNECTIONS_MAX: usize = 2048;

/// Delay before the next connection is accepted, after one could not be.
pub(crate) const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Time that a TLS handshake may take.
pub(crate) const TLS_HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// Time that the head of a request may take. A phone on a bad line needs seconds; a slower client only
/// occupies the connection.
pub(crate) const HEAD_TIME_MAX: Duration = Duration::from_secs(15);

/// Time that a connection may stay without a credential after its first byte or the last response that it
/// got. A browser that loads the page opens another one when it needs it.
pub(crate) const AUTH_TIME_MAX: Duration = Duration::from_secs(30);

/// Time that the body of a request may take, besides one second per kibibyte: slower than the slowest phone
/// network.
pub(crate) const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// Connections that wait in the kernel until the server accepts them: a thousand clients that come at once.
/// The kernel lowers it to its own limit.
#[cfg(unix)]
pub(crate) const CONNECTIONS_WAITING: i32 = 4096;

/// Time in which a connection is not refused in favour of newer ones. A thousand clients that come at once
/// are all accepted before the first of them is authenticated.
pub(crate) const FIRST_REQUEST_TIME: Duration = Duration::from_secs(5);

/// Refused connections that are answered with the time after which to come again.
pub(crate) const REFUSED_MAX: usize = 1024;

/// Connections at the same time that have not authenticated. New ones replace old ones.
pub(crate) const UNAUTHENTICATED_MAX: usize = 1024;

/// The same from one address. Behind a proxy all clients share one, and a browser opens six to load the page.
pub(crate) const ADDRESS_UNAUTHENTICATED_MAX: usize = 256;

/// The longest head of a request. Our own cookies and addresses need a tenth of it.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;

/// Interval between two checks of the certificate files. Those of private networks are renewed every few
/// weeks.
pub(crate) const CERTIFICATE_EVERY: Duration = Duration::from_secs(60);

/// Time that the whole shutdown may take (P11).
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(14);

/// Time for requests that are under way after everything else has ended.
pub(crate) const DRAIN_REQUESTS_MAX: Duration = Duration::from_secs(2);

/// Interval between two sweeps for expired credentials and renewed certificates.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// The pause between two pages while all events are checked after the start, so that other readers go first.
pub(crate) const INSPECTION_PAUSE: Duration = Duration::from_millis(10);

/// Time without events and without new or lost subscribers after which free memory goes back to the system.
pub(crate) const MEMORY_QUIET: Duration = Duration::from_secs(10);

/// The longest time between two such returns while the server is busy.
pub(crate) const MEMORY_RETURN_INTERVAL: Duration = Duration::from_secs(60);
