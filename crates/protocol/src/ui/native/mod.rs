//! Our own events, in addition to the twelve of the original UI wire.
//!
//! Each is a variant of [`UiMessage`](super::UiMessage) that holds the structure of the same name.
//! Create one with `new`, which takes the required fields, and set the others afterwards.
//! Optional fields without a value are omitted.

mod permission;
mod progress;
mod prompt;
mod question;
mod raw_frame;
mod session;
mod sub_agent;
mod text;
mod tool;
mod turn;
mod upkeep;

pub use permission::{PermissionDetails, PermissionResolved, Resolution};
pub use progress::{Progress, ProgressSource, TodoItem, TodoList, TodoStatus};
pub use prompt::{PromptDropped, PromptQueued, UserPrompt};
pub use question::{
    InteractionResolved, OptionDetails, PlanProposed, QuestionDetails, QuestionKind, QuestionNote,
};
pub use raw_frame::RawFrame;
pub use session::{SessionPhase, SessionStarted, SessionStateChanged, SessionTitle, SettingsChanged};
pub use sub_agent::{Lane, SubAgentEnded, SubAgentOutcome, SubAgentProgressed, SubAgentStarted, TaskChanged};
pub use text::{RetractReason, Retracted, Suggestion, TextEnded, Thinking};
pub use tool::{ToolDetails, ToolPreparing, ToolProgress};
pub use turn::{DeniedTool, TokenUsage, TurnResult, TurnStarted};
pub use upkeep::{Compacted, RateLimit, Retrying};

/// Declares events. `new` takes the `required` fields; `optional` ones become an `Option`; `defaulted` ones
/// may be absent when read.
macro_rules! events {
    ($(
        $(#[$meta:meta])*
        pub struct $Name:ident {
            required { $( $(#[$req_meta:meta])* $req:ident: $Req:ty, )+ }
            $( optional { $( $(#[$opt_meta:meta])* $opt:ident: $Opt:ty, )+ } )?
            $( defaulted { $( $(#[$def_meta:meta])* $def:ident: $Def:ty, )+ } )?
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
        #[non_exhaustive]
        pub struct $Name {
            $( $(#[$req_meta])* pub $req: $Req, )*
            $($(
                $(#[$opt_meta])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $opt: Option<$Opt>,
            )+)?
            $($( $(#[$def_meta])* #[serde(default)] pub $def: $Def, )+)?
        }

        impl $Name {
            /// An event with its required fields only.
            pub fn new($($req: impl Into<$Req>),*) -> Self {
                Self {
                    $($req: $req.into(),)*
                    $($($opt: None,)+)?
                    $($($def: <$Def>::default(),)+)?
                }
            }
        }
    )+};
}

/// Declares closed enums whose variants are written under their Rust names.
macro_rules! closed_enums {
    ($(
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$word_meta:meta])* $Word:ident, )+ }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[non_exhaustive]
        pub enum $Name { $( $(#[$word_meta])* $Word, )+ }
    )+};
}

pub(crate) use {closed_enums, events};
