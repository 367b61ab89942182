//! A Claude Code session as events to show and requests to answer.
//!
//! This is the part of an agent front end that does not depend on how it is shown: a terminal, a server, a
//! page or an editor can use it without HTTP.
//! Frames of the CLI go in and [`UiMessage`]s come out. Each permission request and question is asked once
//! and answered once.

mod clock;
pub mod dialect;
pub mod fold;
mod frontend;
pub mod history;
mod limits;
pub mod pending;
pub mod permissions;
pub mod policy;
pub mod progress;
pub mod questions;
mod request_table;
pub mod session;
pub mod sink;
pub mod source;

pub use clock::Clock;
pub use frontend::{Agent, run_with_frontend};
pub use permissions::PermissionRegistry;
pub use policy::PermissionPolicy;
pub use questions::UserInteractionRegistry;
pub use request_table::{AskKey, OutcomeFuture};
pub use session::{AgentSession, Setup};
pub use sink::{ChannelEventSink, EventSink, TextEventSink};
pub use source::{ChannelInputSource, Command, FrontendInput, InputSource};
pub use tidings_protocol::ui::{ControllerInputPayload, TurnId, UiMessage};

/// The examples of the README are compiled with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
