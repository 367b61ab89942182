//! Entries with additional context for the model.

use super::Chained;
use crate::json::{Json, object};

/// Additional context for the model. It is part of the chain like any message.
pub type AttachmentEntry = Chained<AttachmentFields>;

object! {
    /// Fields of `attachment` entries besides the envelope.
    pub struct AttachmentFields {
        opt attachment: AttachmentBody,
        /// Text of it that the model received.
        opt rendered: Json,
        opt rendered_role: String as "renderedRole",
        opt rendered_beside_tool_result: bool as "renderedBesideToolResult",
    }

    /// An attachment. About fifty kinds exist and change with every release, so everything but the kind is
    /// raw in `extra`.
    pub struct AttachmentBody {
        /// `environment`, `skill_listing`, `hook_success`, …
        opt kind: String as "type",
    }
}
