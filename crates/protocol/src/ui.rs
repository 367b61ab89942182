//! Wire between an agent and the programs that show it: events out, input in.
//!
//! [`UiMessage`] is one event of a session and [`ControllerInputPayload`] is one message to it.
//! In JSON an event is an object with one key, the name of the variant:
//!
//! ```
//! # fn main() -> Result<(), serde_json::Error> {
//! use tidings_protocol::ui::{ControllerInputPayload, TurnId, UiMessage};
//!
//! let event = UiMessage::TextChunk {
//!     text: "Hello".to_string(),
//!     session_id: 1,
//!     turn_id: TurnId::new_assistant_turn(1),
//! };
//! assert_eq!(
//!     serde_json::to_string(&event)?,
//!     r#"{"TextChunk":{"text":"Hello","session_id":1,"turn_id":{"role":"Assistant","sequence":1}}}"#
//! );
//!
//! let json = r#"{"session_id":1,"content":"Hi","turn_id":{"role":"User","sequence":1}}"#;
//! let payload: ControllerInputPayload = serde_json::from_str(json)?;
//! assert_eq!(payload.turn_id, TurnId::new_user_turn(1));
//! # Ok(())
//! # }
//! ```
//!
//! An optional field may be absent when read.
//! The twelve events of the original UI wire write it as `null`; our own events and
//! [`ControllerInputPayload::metadata`] omit it.

mod events;
mod facts;
mod input;
mod native;
mod outcome;
mod permission;
mod question;
mod stop_reason;
mod turn_id;

pub use events::*;
pub use facts::{Durability, EventFacts, SnapshotRole};
pub use input::ControllerInputPayload;
pub use native::*;
pub use outcome::{AnsweredBy, RequestOutcome};
pub use permission::{PermissionLevel, PermissionRequest, TargetType};
pub use question::{AskUserQuestionsRequest, Question, QuestionType};
pub use stop_reason::StopReason;
pub use turn_id::{ParseTurnIdError, Role, TurnId};

/// Version of this wire; it grows when a client written for the previous version could misread an event.
///
/// A new variant of [`UiMessage`] does not count: clients must ignore variants that they do not know.
pub const UI_WIRE_VERSION: u32 = 1;
