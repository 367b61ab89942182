//! A Claude Code session as events to show and questions to answer.
//!
//! What a terminal, a server, a page or an editor needs of an agent, and nothing of HTTP.
//! Frames go in and [`UiMessage`]s come out; questions are asked once and answered once.

mod clock;
mod desk;
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
pub mod session;
pub mod sink;
pub mod source;

pub use clock::Clock;
pub use desk::{AskKey, Waiting};
pub use frontend::{Agent, run_with_frontend};
pub use permissions::PermissionRegistry;
pub use policy::PermissionPolicy;
pub use questions::UserInteractionRegistry;
pub use session::{AgentSession, Setup};
pub use sink::{ChannelEventSink, EventSink, TextEventSink};
pub use source::{ChannelInputSource, Command, FrontendInput, InputSource};
pub use tidings_protocol::ui::{ControllerInputPayload, TurnId, UiMessage};

/// The examples of the README are compiled with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
