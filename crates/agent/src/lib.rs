//! A Claude Code session as events to show and questions to answer.
//!
//! What a terminal, a server, a page or an editor needs of an agent, and nothing of HTTP.
//! Frames go in and [`UiMessage`]s come out; questions are asked once and answered once.

pub use tidings_protocol::ui::{ControllerInputPayload, TurnId, UiMessage};
