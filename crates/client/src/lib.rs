//! Drive Claude Code from Rust.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tidings::Error> {
//! let mut answer = tidings::query("What is 2 + 2?", tidings::Options::new()).text_stream();
//! while let Some(text) = answer.next().await {
//!     print!("{}", text?);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`query()`] sends one prompt. A [`Client`] is a conversation: many prompts, [turns](Turn) that can be
//! followed and interrupted, several [subscribers](Subscriber), and a method for each control request of the
//! CLI. [`Options`] has every option of the official SDKs, and takes the handlers of the CLI's requests: a
//! [`PermissionHandler`], [hooks](Hook), MCP servers of your own.
//!
//! [`Sessions`] are the conversations on disk: list, read, rename, tag, copy and delete them. A [`Pool`]
//! starts processes ahead of demand, and parks idle conversations.
//!
//! No process is left behind: a session that is closed, dropped, cancelled or killed with its program takes
//! its processes with it. No queue grows without bound, and a slow subscriber does not delay the others. An
//! [`Error`] has a kind to branch on, a message to show and a hint to act on.
//!
//! # Messages
//!
//! Claude Code writes one JSON object per line. A [`Frame`] is such a line: it keeps the bytes and reads
//! members from them on demand. A [`messages::Message`] is the same as an owned value that can be matched on,
//! changed and written back.
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
//! // Unknown keys are preserved.
//! assert_eq!(message.to_line(), line);
//! assert_eq!(frame.raw(), line.as_bytes());
//! # Ok::<(), tidings::DecodeError>(())
//! ```
//!
//! Unknown messages, blocks and values are not errors: they arrive as `Unknown`, with their text. Every enum
//! of the wire format is therefore open, and a `match` on it needs a last arm.
//!
//! # Features and types of other crates
//!
//! Types of other crates in signatures are re-exported: [`CancellationToken`], [`BoxFuture`], [`Uuid`], and
//! with the feature `schema` the crate `schemars`. Everything that starts or drives a session must run inside
//! a tokio runtime with I/O and time enabled, as `#[tokio::main]` makes it; without a runtime it is an error.
//!
//! | feature | adds |
//! |---|---|
//! | `sessions` (default) | the module `sessions` and [`Sessions`]: the conversations on disk; the module `session_store`: conversations in a store of your own |
//! | `mcp` | the module `mcp`, `Options::tool_server` and `Options::mcp_service`: tools and MCP servers in this process |
//! | `schema` | `Options::output_type` and `TurnEnd::output`: structured output as values of Rust types |
//! | `host` | the module `host` and `transport::SocketTransport`: a process that keeps `claude` (Unix) |
//! | `terminal` | the module `host::terminal`: a process that holds the terminal of an interactive `claude` (Unix) |
//! | `otel` | a span per turn, see [`guide::telemetry`] |
//!
//! # More
//!
//! The [`guide`] has a chapter on each topic that can surprise: turns, permissions, hooks, cancellation,
//! deadlocks, options, errors, processes. The folder `examples/` has a program for each feature, and the
//! tests run each of them.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent_name;
mod calls;
mod client;
mod error;
pub mod find;
pub mod guide;
pub mod handlers;
#[cfg(all(unix, feature = "host"))]
pub mod host;
mod ids;
mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod options;
mod pool;
mod process_identity;
mod prompt;
mod query;
mod session_lock;
#[cfg(feature = "sessions")]
pub mod session_store;
#[cfg(feature = "sessions")]
pub mod sessions;
pub mod transport;

#[doc(no_inline)]
pub use futures_core::future::BoxFuture;
#[cfg(feature = "schema")]
#[doc(no_inline)]
pub use schemars;
#[doc(no_inline)]
pub use tokio_util::sync::CancellationToken;
#[doc(no_inline)]
pub use uuid::Uuid;

pub use client::{Client, Event, Interrupted, StoppedBy, Subscriber, Turn, TurnEnd, TurnId, TurnOutcome};
pub use error::{Error, ErrorKind};
pub use handlers::{
    AllowAll, Context, Decision, DenyAll, DialogAsk, DialogHandler, ElicitationAsk, ElicitationHandler, Hook,
    HookCall, McpHandler, PermissionAsk, PermissionHandler,
};
pub use ids::Ids;
pub use options::{Options, SystemPrompt};
pub use pool::{Lease, Pool, PoolLimits, PooledSession};
pub use process_identity::ProcessIdentity;
pub use prompt::Prompt;
pub use query::{Query, TextStream, query, query_over, query_stream};
pub use session_lock::{SessionHolder, SessionLock, SessionOwner};
#[cfg(feature = "sessions")]
pub use sessions::Sessions;
pub use tidings_protocol::{
    self as protocol, DecodeError, DecodeErrorKind, Frame, FrameRef, Kind, Outcome, ToolCall, Typed, control,
    hooks, json, messages, ndjson, permissions, stream, tools, view,
};

/// The examples of the README are compiled with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
