//! Sessions that are over, or were watched by somebody else, as the same events that a running one gives.
//!
//! [`Replay`] takes the entries of session files, [`Recording`] the frames that somebody wrote down. Both feed a
//! [`Fold`](crate::fold::Fold), so that there is only one place that knows what an event is.
//! [`Conversation`] is what all of them agree on.

mod conversation;
mod recording;
mod replay;
mod session;

pub use conversation::{Conversation, ToolCall, Turn, Words};
pub use recording::Recording;
pub use replay::Replay;
pub use session::replay_session;
