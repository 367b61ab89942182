//! Questions to the user: from the model, about a plan, and from MCP servers.
//!
//! An [`Inquiry`] holds questions that are answered together, and gives an
//! [`AskUserQuestionsRequest`](tidings_protocol::ui::AskUserQuestionsRequest) for the events.
//! It validates answers, and converts the outcome into a reply to the CLI.
//! A [`UserInteractionRegistry`] stores it until it is answered.

mod ask_user;
mod form;
mod inquiry;
mod plan;
mod registry;
mod validate;

pub use inquiry::{Choice, CliReply, Field, Inquiry, Origin, Replied, Reply};
pub use plan::{APPROVE, APPROVE_AND_ACCEPT_EDITS, KEEP_PLANNING};
pub use registry::{InteractionError, UserInteractionRegistry};
pub use validate::{Invalid, InvalidCode, check_questions};
