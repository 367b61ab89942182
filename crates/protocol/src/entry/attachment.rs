use super::Chained;
use crate::json::{Json, object};

/// Something that the model is told next to the conversation. It is a link of the chain like any message.
pub type AttachmentEntry = Chained<AttachmentFields>;

object! {
    /// What `attachment` entries add to the envelope.
    pub struct AttachmentFields {
        opt attachment: Attachment,
        /// What the model got to read of it.
        opt rendered: Json,
        opt rendered_role: String as "renderedRole",
        opt rendered_beside_tool_result: bool as "renderedBesideToolResult",
    }

    /// An attachment. About fifty kinds exist and change with every release, so all but the kind is raw in `extra`.
    pub struct Attachment {
        /// `environment`, `skill_listing`, `hook_success`, …
        opt kind: String as "type",
    }
}
