//! Permission requests: what a tool would do, who may answer, and what an answer covers.
//!
//! The CLI asks with `can_use_tool`. An [`Ask`] is that request in a form that users and policies can judge,
//! with a
//! [`PermissionRequest`](tidings_protocol::ui::PermissionRequest) for the events.
//! A [`PermissionRegistry`] stores it until the first answer, stores the grants of the session, and turns
//! "always" into rules for the CLI.
//!
//! Every failure is a denial: an answer about something other than what was shown, a time-out, a withdrawn
//! request.

mod answer;
mod ask;
mod batch;
mod command;
mod digest;
pub(crate) mod disk;
mod facts;
mod git_folder;
mod glob;
mod grant;
mod hidden;
mod offer;
pub(crate) mod paths;
mod public;
pub(crate) mod reach;
mod registry;
mod request;
mod rules;
pub(crate) mod runs;
mod secrets;
mod sources;
pub(crate) mod writes;

pub use answer::{AfterDenial, Allowed, Answer, Denied, decision};
pub use ask::Ask;
pub use batch::{Emit, Gather};
pub(crate) use command::git_address;
pub use command::{
    CommandKind, Danger, Opaque, Redirect, RedirectKind, Role, Script, SimpleCommand, Word, WordKind,
};
pub use digest::{Digest, InvalidDigest};
pub use facts::{SessionFacts, SessionFolder, SessionKind};
pub(crate) use git_folder::GitFolder;
pub(crate) use glob::PathPatterns;
pub use glob::{literal, matches as glob_matches};
pub(crate) use grant::command_matches;
pub use grant::{Grant, GrantTarget};
pub use hidden::is_hidden;
pub(crate) use hidden::visible;
pub use offer::AGENT_DESTINATION;
pub use reach::Reach;
pub use registry::{
    BatchAnswer, BatchRecorded, BatchResponse, Member, PermissionRegistry, Recorded, RegisteredBatch,
    RegistryError, Requested, Response,
};
pub use request::{Derived, derive};
pub(crate) use request::{KNOWN_HOSTS, host as host_of};
pub use secrets::{is_sensitive_file, is_sensitive_folder};
pub use sources::{CodeSources, GitSettings};
