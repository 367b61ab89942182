//! Sessions after the end of a server, an agent or a limit.

#[cfg(unix)]
pub(super) mod adopt;
pub(super) mod after_limit;
#[cfg(unix)]
pub(super) mod dead_hosts;
#[cfg(unix)]
pub(super) mod health;
pub(super) mod recover;
