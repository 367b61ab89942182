//! One line of a session file (`projects/<folder>/<session>.jsonl`).
//!
//! ```
//! use tidings_protocol::entry::{Entry, EntryBody, EntryKind};
//!
//! let line = br#"{"type":"user","uuid":"u-1","parentUuid":null,"sessionId":"s-1",
//!     "message":{"role":"user","content":"Hi"}}"#;
//! let entry = Entry::decode(line)?;
//! assert_eq!(entry.kind(), EntryKind::User);
//! assert_eq!(entry.text(), "Hi");
//! let EntryBody::User(user) = entry.body() else { unreachable!() };
//! assert_eq!(user.envelope.uuid.as_deref(), Some("u-1"));
//! # Ok::<(), tidings_protocol::DecodeError>(())
//! ```
//!
//! - [`EntryRef`] borrows its line and reads it in place; [`Entry`] owns its line.
//! - [`EntryBody`] is the entry as an owned value. It can be edited and written back without losing unknown
//!   keys.
//! - There are three [`Dialect`]s: the real CLI, the session specification, and its later revision. Accessors
//!   work for all of them.
//!
//! Keys are `camelCase` where the wire has `snake_case`, and only some kinds are part of the tree of uuids:
//! see [`EntryKind::is_chained`].

mod assistant;
mod attachment;
mod body;
mod borrowed;
mod chained;
mod compact;
mod content;
mod dialect;
mod envelope;
mod flags;
mod head;
mod kind;
mod message;
mod owned;
mod progress;
mod request_log;
mod rewrite;
mod seed;
mod side_records;
mod system;
mod user;

pub use assistant::{AssistantEntry, AssistantFields, AssistantSubtype};
pub use attachment::{AttachmentBody, AttachmentEntry, AttachmentFields};
pub use body::{Bookkeeping, EntryBody, TypedEntry};
pub use borrowed::EntryRef;
pub use chained::Chained;
pub use compact::{
    CompactOperation, CompactStatistics, CompactSystemEntry, CompactSystemFields, EntryCompactMetadata,
    PreservedEntries, PreservedEntryRange,
};
pub use content::ToolResult;
pub use dialect::Dialect;
pub use envelope::{Envelope, ForkedFrom, Timestamp};
pub use flags::Flags;
pub use kind::EntryKind;
pub use message::EntryMessage;
pub use owned::Entry;
pub use progress::{ProgressData, ProgressEntry, ProgressFields};
pub use request_log::{ApiRequest, ApiRequestBlob, ApiRequestShape};
pub use rewrite::{RewriteEntry, RewriteFields};
pub use side_records::{
    AgentColor, AgentName, AgentSetting, AiTitle, AtisLatch, BridgeSession, ContentReplacement, CostState,
    CustomTitle, FileBackup, FileHistoryDelta, FileHistorySnapshot, FileSnapshot, ForkContextRef, FrameLink,
    IsolationLatch, LastPrompt, Mode, PermissionModeChange, PrLink, QueueAction, QueueOperation, Relocated,
    Summary, Tag, ToolsUsed, WorktreeSession, WorktreeState,
};
pub use system::{
    CommandOutcome, CommandRun, HookInfo, PromptEnding, PromptSubmitEnding, SystemEntry, SystemFields,
    SystemSubtype,
};
pub use user::{PermissionDecision, TurnPosition, UserEntry, UserFields};
