//! `request_user_dialog`: dialog of the CLI with the user.

use super::tagged::tagged;
use crate::json::{Json, object, open_string};

open_string! {
    /// Kind of dialog that a host can support.
    pub struct DialogKind {
        REFUSAL_FALLBACK_PROMPT = "refusal_fallback_prompt",
    }
}

object! {
    /// Dialog of the CLI with the user. The CLI only uses kinds that the handshake declared.
    pub struct RequestUserDialog {
        req dialog_kind: DialogKind,
        /// Content to show; its shape depends on the kind.
        def payload: Json,
        opt tool_use_id: String,
    }

    /// The user finished the dialog.
    pub struct DialogCompleted {
        /// Result of the dialog; its shape depends on the kind.
        def result: Json,
    }

    /// The user closed the dialog.
    pub struct DialogCancelled {}
}

tagged! {
    /// Answer to a [`RequestUserDialog`], distinguished by `behavior`.
    ///
    /// A host that cannot show the kind stays silent: the CLI has its own deadline.
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
