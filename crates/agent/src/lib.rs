//! A Claude Code session as events to show and questions to answer.
//!
//! What a terminal, a server, a page or an editor needs of an agent, and nothing of HTTP.
//! Frames go in and [`UiMessage`]s come out; questions are asked once and answered once.

mod desk;
mod limits;
pub mod pending;
pub mod permissions;
pub mod policy;
pub mod questions;

pub use desk::{AskKey, Waiting};
pub mod progress;

pub use tidings_protocol::ui::{ControllerInputPayload, TurnId, UiMessage};
