//! Typed, lossless and open definitions of every JSON shape that a Claude Code agent exchanges.
//!
//! ```
//! use tidings_protocol::{Frame, messages::Message};
//!
//! let frame = Frame::from_json(r#"{"type":"assistant","message":{"content":"Hello!"}}"#)?;
//! assert_eq!(frame.name(), "assistant");
//! let Message::Assistant(assistant) = frame.message() else { unreachable!() };
//! assert_eq!(assistant.message.content.joined_text(), "Hello!");
//! # Ok::<(), tidings_protocol::DecodeError>(())
//! ```
//!
//! - [`ndjson`] splits bytes into lines.
//! - [`Frame`] is one line of the wire: its raw bytes, and views of them. [`FrameRef`] borrows the line.
//! - [`view`] reads a frame in place; [`messages`] gives it as an owned value, named as in `rusty_claw`.
//! - [`stream`] has the events of a streamed answer and rebuilds the message from them.
//! - [`control`], [`hooks`] and [`permissions`] are the requests between host and CLI, with their answers.
//! - [`tools`] types the inputs and outputs of tools on demand.
//! - [`entry`] is one line of a session file.
//! - [`seed`] writes the `rusty_claw` wire format.
//! - [`ui`] and [`mobile`] are our own wire, for clients that show a session.
//! - [`sums`] are figures about sessions on disk.
//!
//! This crate does no I/O, never waits and reads no clock. No input makes it panic, abort or recurse without
//! bound.

/// The version of Claude Code that every test of this repository runs with.
pub const TESTED_CLAUDE_CODE: &str = "2.1.327";

pub mod control;
pub mod entry;
mod error;
mod frame;
pub mod hooks;
pub mod json;
pub mod messages;
pub mod mobile;
pub mod ndjson;
mod owned_line;
pub mod permissions;
pub mod seed;
pub mod stream;
pub mod sums;
pub mod tools;
pub mod ui;
pub mod view;

pub use error::{DecodeError, DecodeErrorKind};
pub use frame::{Frame, FrameRef, Kind, Outcome, ToolCall, Typed};
