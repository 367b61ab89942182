//! Another agent in place of Claude Code: it speaks the Agent Client Protocol, and the [`Adapter`] translates
//! between it and a host of Claude Code, in both directions.
//!
//! The adapter is a state machine without I/O. Its caller passes it the lines of both sides and performs the
//! [`Effect`]s that it returns. A translated message carries the agent's own line in its member `acp`; a line
//! that has no translation becomes a `system` message with the subtype [`UPDATE`].

mod asks;
mod calls;
mod control;
mod effect;
mod frames;
mod handshake;
mod initialize;
mod listing;
mod mcp;
mod modes;
mod options;
mod prompt;
mod requests;
mod state;
mod tools;
mod turn;
mod turn_end;
mod updates;

pub use self::effect::{Effect, FileRequest, TerminalRequest};
pub use self::frames::{SOURCE, UPDATE};
pub use self::listing::{
    LIST_CURSOR_FLAG, LIST_FOLDER_FLAG, LIST_SESSIONS_FLAG, Listing, ListingResult, ListingSettings,
    PastSession, PastSessions,
};
pub use self::options::OPTIONS_SETTING;
pub use self::state::{Adapter, AdapterSettings};
