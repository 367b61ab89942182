//! Past sessions as the same events that a running one gives.
//!
//! [`Replay`] converts the entries of session files, [`Recording`] converts recorded frames.
//! Both use a [`Fold`](crate::fold::Fold), so that events are defined in one place only.
//! [`Conversation`] is the content that all of them agree on.

mod conversation;
mod recording;
mod replay;
mod session;

pub use conversation::{AgentOutput, Conversation, ToolCall, Turn};
pub use recording::Recording;
pub use replay::Replay;
pub use session::replay_session;
