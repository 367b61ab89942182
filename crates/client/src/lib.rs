//! Read, check and write what Claude Code says.
//!
//! Claude Code speaks one JSON object per line. A [`Frame`] is such a line: it keeps the bytes and answers
//! questions about them. A [`messages::Message`] is the same as an owned value that can be matched on, changed and
//! written back.
//!
//! ```
//! use tidings::Frame;
//! use tidings::messages::ContentBlock;
//!
//! let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hello!"}]},"new":1}"#;
//! let frame = Frame::from_json(line)?;
//! assert_eq!(frame.name(), "assistant");
//!
//! let message = frame.message();
//! for block in message.content_blocks() {
//!     match block {
//!         ContentBlock::Text { text } => assert_eq!(text, "Hello!"),
//!         ContentBlock::ToolUse { name, input, .. } => println!("{name} {input}"),
//!         other => println!("a block of kind {}", other.kind()),
//!     }
//! }
//! // A key that nobody has heard of is still there.
//! assert_eq!(message.to_line(), line);
//! assert_eq!(frame.raw(), line.as_bytes());
//! # Ok::<(), tidings::DecodeError>(())
//! ```
//!
//! What nobody knows yet is no error: it arrives as `Unknown`, with its text. So every enum of the wire is open,
//! and a `match` on it needs a last arm. The [`guide`] shows more.
//!
//! Starting and driving Claude Code is planned for this crate; today it passes on the modules of
//! [`tidings_protocol`].

pub use tidings_protocol::{
    DecodeError, DecodeErrorKind, Frame, FrameRef, Kind, Outcome, ToolCall, Typed, control, entry, hooks,
    json, messages, mobile, ndjson, permissions, seed, stream, tools, ui, view,
};

#[doc = include_str!("guide/messages.md")]
pub mod guide {}
