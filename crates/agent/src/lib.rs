//! A Claude Code session as events to show and questions to answer.
//!
//! What a terminal, a server, a page or an editor needs of an agent, and nothing of HTTP.
//! Frames go in and [`UiMessage`]s come out; questions are asked once and answered once.

mod desk;
pub mod dialect;
pub mod fold;
pub mod history;
mod limits;
pub mod pending;
pub mod permissions;
pub mod policy;
pub mod progress;
pub mod questions;

pub use desk::{AskKey, Waiting};
pub use tidings_protocol::ui::{ControllerInputPayload, TurnId, UiMessage};
