//! Hooks: their input from the CLI, and their output.
//!
//! A [`HookInput`] has the fields common to all events (its [`HookBase`]) and those of the event (a
//! [`HookEventInput`], one variant per event). A [`HookOutput`] has fields for any event and fields for the
//! event at hand (a [`HookSpecificOutput`]).
//!
//! The events are declared in one table, `table.rs`.
//! Hooks that are commands receive the same objects on their stdin.

mod compact;
mod elicitation;
mod input;
mod model_switch;
mod output;
mod prompt;
mod session;
mod specific;
mod table;
mod team;
mod tool;
mod workspace;

pub use compact::*;
pub use elicitation::*;
pub use input::{HookBase, HookEffort, HookInput};
pub use model_switch::*;
pub use output::{HookDecision, HookOutput};
pub use prompt::*;
pub use session::*;
pub use specific::*;
pub use table::{HookEvent, HookEventInput, HookKind, HookSpecificOutput};
pub use team::*;
pub use tool::*;
pub use workspace::*;
