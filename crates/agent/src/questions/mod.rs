//! Questions to the user: of the model, about a plan, and of MCP servers.
//!
//! An [`Inquiry`] is what is asked, with an
//! [`AskUserQuestionsRequest`](tidings_protocol::ui::AskUserQuestionsRequest) for the events. It checks answers, and
//! turns the outcome into what the CLI wants to hear. A [`UserInteractionRegistry`] keeps it until it is answered.

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
