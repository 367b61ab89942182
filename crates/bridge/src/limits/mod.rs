//! Limits of this crate, each with its reason: those of one part in its file, those that several share here.

mod api;
mod auth;
mod files;
mod journal;
mod notify;
mod server;
mod sessions;

use std::time::Duration;

pub(crate) use self::api::*;
pub(crate) use self::auth::*;
pub(crate) use self::files::*;
pub(crate) use self::journal::*;
pub(crate) use self::notify::*;
pub(crate) use self::server::*;
pub(crate) use self::sessions::*;

/// Bytes of the body of a prompt, or of a new session with a prompt. Clients apply it too, so the protocol
/// crate defines it.
pub(crate) use tidings_api::INPUT_BYTES_MAX;

/// The longest name: a session's key, an event's kind, the id of a client's command or of an ask. The longest
/// names in use are UUIDs with a prefix.
pub(crate) const NAME_BYTES_MAX: usize = 200;

/// The longest text about a session or a decision: a folder, a title, a state, a rule. Longer than any path
/// may be.
pub(crate) const TEXT_BYTES_MAX: usize = 8 << 10;

/// A document, and the body of one ask. A tool input is rarely longer; a longer one goes
/// into the event, and the ask refers to it.
pub(crate) const BLOB_BYTES_MAX: usize = 4 << 20;

/// Events in one page, whatever the caller requests.
pub(crate) const PAGE_EVENTS_MAX: usize = 4096;

/// Bytes in one page, whatever the caller requests; a single event that is longer is a page of its own.
pub(crate) const PAGE_BYTES_MAX: usize = 4 << 20;

/// Sessions, asks, projects or audit entries in one list.
pub(crate) const LIST_MAX: usize = 1000;

/// Characters of the rules that a line of the audit log names; a rule can hold a whole script.
pub(crate) const AUDIT_RULE_CHARS: usize = 1000;

/// Entries of a folder that are looked at for one list.
pub(crate) const FOLDER_ENTRIES_MAX: usize = 20_000;

/// Bytes of the body of a request. A patch, an answer or a command is far shorter.
pub(crate) const BODY_REQUEST_BYTES_MAX: usize = 1 << 20;

/// Time that writing one message to a client may take: a minute is more than any working network needs.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(60);

/// Items on one page of the inbox.
pub(crate) const INBOX_PAGE_MAX: usize = 200;

/// The longest file that is read; a thousand devices need less.
pub(crate) const PRIVATE_FILE_BYTES_MAX: u64 = 4 << 20;

/// The length from which on an event is written in parts and held once for all subscribers. A client that
/// reads nothing holds about as much.
pub(crate) const LONG_EVENT_BYTES: usize = 64 << 10;
