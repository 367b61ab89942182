//! Every bound of the API stand-in, with its reason.

/// What the real API takes; a longer request is refused there too.
pub(super) const REQUEST_BYTES_MAX: usize = 32 * 1024 * 1024;

/// How long [`Server::stop`](super::Server::stop) lets answers finish before it hangs up.
///
/// Scripts pause for minutes to show a slow API, and whoever stops the server no longer wants the rest.
pub(super) const STOP_WAIT_MS: u64 = 500;

/// How long an answer that is to break off rests before it does.
///
/// The HTTP layer throws away what it has not yet written when a body fails, and the script promises the bytes.
pub(super) const CUT_WAIT_MS: u64 = 20;
