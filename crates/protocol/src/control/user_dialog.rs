//! `request_user_dialog`: the CLI asks the user something.

use super::tagged::tagged;
use crate::json::{Json, object, open_string};

open_string! {
    /// A kind of dialog that a host can say it shows.
    pub struct DialogKind {
        REFUSAL_FALLBACK_PROMPT = "refusal_fallback_prompt",
    }
}

object! {
    /// The CLI asks the user something. It asks only in kinds that the handshake declared.
    pub struct RequestUserDialog {
        req dialog_kind: DialogKind,
        /// What to show; its shape depends on the kind.
        def payload: Json,
        opt tool_use_id: String,
    }

    /// The user finished the dialog.
    pub struct DialogCompleted {
        /// What the user chose; its shape depends on the kind.
        def result: Json,
    }

    /// The user closed the dialog.
    pub struct DialogCancelled {}
}

tagged! {
    /// The answer to a [`RequestUserDialog`], told apart by `behavior`.
    ///
    /// A host that cannot show the kind stays silent: the CLI has a deadline of its own.
    pub enum DialogAnswer by "behavior" {
        /// The user finished the dialog.
        Completed(DialogCompleted) = "completed",
        /// The user closed the dialog.
        Cancelled(DialogCancelled) = "cancelled",
    }
}

impl DialogAnswer {
    /// The user finished the dialog.
    pub fn completed(result: Json) -> Self {
        DialogAnswer::Completed(DialogCompleted { result, ..DialogCompleted::default() })
    }

    /// The user closed the dialog.
    pub fn cancelled() -> Self {
        DialogAnswer::Cancelled(DialogCancelled::default())
    }
}
