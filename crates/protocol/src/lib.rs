//! Every JSON shape that a Claude Code agent exchanges: typed, lossless, open.
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
//! - [`ndjson`] cuts bytes into lines.
//! - [`Frame`] is one line of the wire: its raw bytes, and views of them. [`FrameRef`] borrows the line.
//! - [`view`] looks at a frame in place; [`messages`] has it as an owned value, with the names of seed 000.
//! - [`stream`] has the events of a streamed answer and rebuilds the message from them.
//! - [`control`], [`hooks`] and [`permissions`] are what host and CLI ask each other.
//! - [`tools`] gives types to tool inputs and outputs on demand.
//! - [`entry`] is one line of a session file.
//! - [`seed`] writes the accent of seed 000.
//! - [`ui`] and [`mobile`] are our own wire, for those who watch; [`api`] is what they ask the server for.
//!
//! Nothing here does I/O, waits, or looks at a clock. No bytes make it panic, abort or recurse without bound.

pub mod api;
pub mod control;
pub mod entry;
mod error;
mod frame;
pub mod hooks;
pub mod json;
pub mod messages;
pub mod mobile;
pub mod ndjson;
pub mod permissions;
pub mod seed;
pub mod stream;
pub mod tools;
pub mod ui;
pub mod view;

pub use error::{DecodeError, DecodeErrorKind};
pub use frame::{Frame, FrameRef, Kind, Outcome, ToolCall, Typed};
