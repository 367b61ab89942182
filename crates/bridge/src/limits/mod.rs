//! Limits of this crate, each with its reason: those of one part in its file, those that several share here.

mod api;
mod auth;
mod fleet;
mod notify;
mod server;

use std::time::Duration;

pub(crate) use self::api::*;
pub(crate) use self::auth::*;
pub(crate) use self::fleet::*;
pub(crate) use self::notify::*;
pub(crate) use self::server::*;

/// Bytes of the body of a request. A patch, an answer or a command is far shorter.
pub(crate) const BODY_REQUEST_BYTES_MAX: usize = 1 << 20;

/// Time that writing one message to a client may take: a minute is more than any working network needs.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(60);

/// Items on one page of the inbox.
pub(crate) const INBOX_PAGE_MAX: usize = 200;
