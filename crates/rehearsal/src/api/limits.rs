//! Every bound of the API stand-in, with its reason.

/// Maximum size of a request body in bytes, as in the real API.
pub(super) const REQUEST_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Time in milliseconds that [`Server::stop`](super::Server::stop) gives responses to finish before it closes
/// them.
///
/// Scripts pause for minutes to simulate a slow API, and the rest is not needed after a stop.
pub(super) const STOP_WAIT_MS: u64 = 500;

/// Delay in milliseconds before a response is cut off.
///
/// When a body fails, the HTTP layer discards what it has not written yet, and the script promises those
/// bytes.
pub(super) const CUT_WAIT_MS: u64 = 20;
