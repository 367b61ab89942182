//! Types of fields of our own events.
//!
//! The events themselves are in the table of `events.rs`.

mod permission;
mod progress;
mod question;
mod session;
mod sub_agent;
mod text;
mod turn;

pub use permission::{PermissionScope, Resolution};
pub use progress::{ProgressSource, TodoItem, TodoStatus};
pub use question::{OptionDetails, QuestionKind, QuestionNote};
pub use session::SessionPhase;
pub use sub_agent::SubAgentOutcome;
pub use text::RetractReason;
pub use turn::{DeniedTool, TokenUsage};

/// Declares structures. `new` takes the `required` fields; `optional` ones become an `Option`;
/// `defaulted` ones may be absent when read.
macro_rules! structures {
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
            /// A value with its required fields only.
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

pub(super) use {closed_enums, structures};
