//! The session calls of the official SDKs, with the same results on the same files.
//!
//! | here | Python SDK | TypeScript SDK |
//! |---|---|---|
//! | [`list_sessions()`] | `list_sessions` | `listSessions` |
//! | [`session_info`] | `get_session_info` | `getSessionInfo` |
//! | [`session_messages`] | `get_session_messages` | `getSessionMessages` |
//! | [`list_subagents`] | `list_subagents` | `listSubagents` |
//! | [`subagent_messages`] | `get_subagent_messages` | `getSubagentMessages` |
//! | [`rename_session`] | `rename_session` | `renameSession` |
//! | [`tag_session`] | `tag_session` | `tagSession` |
//! | [`fork_session`] | `fork_session` | `forkSession` |
//! | [`delete_session`] | `delete_session` | `deleteSession` |
//! | [`archive_session`] | | `archiveSession` |
//! | [`unarchive_session`] | | `unarchiveSession` |
//!
//! ```no_run
//! use tidings_transcript::manage::{Page, Scope, list_sessions};
//! use tidings_transcript::roots::Roots;
//!
//! let roots = Roots::new(["/home/dev/.claude"]);
//! for session in list_sessions(&Scope::everywhere(&roots), Page::default())? {
//!     println!("{} {}", session.session_id, session.summary);
//! }
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! Input that an SDK gives up on is handled here: a first line that is longer than the head of a file,
//! invalid UTF-8, a damaged line. New ids and the time are parameters.

mod archived;
mod chain;
mod delete;
mod details;
mod ends;
mod fields;
mod first_prompt;
mod fork;
mod info;
mod lines;
mod list_sessions;
mod messages;
mod page;
mod parallel;
mod project_key;
mod rename;
mod scope;
mod session_id;
mod subagents;
mod tag;
mod write;

pub use archived::{archive_session, unarchive_session};
pub use delete::delete_session;
pub use details::{SessionDetails, SessionDetailsReader};
pub use first_prompt::prompt_line;
pub use fork::{ForkOptions, Forked, fork_session};
pub use info::{SessionInfo, session_info};
pub use list_sessions::list_sessions;
pub use messages::{SessionMessage, Speaker, session_messages};
pub use page::Page;
pub use project_key::project_key;
pub use rename::rename_session;
pub use scope::{Scope, SessionFile, worktrees};
pub use session_id::SessionId;
pub use subagents::{list_subagents, subagent_messages};
pub use tag::tag_session;
