//! What nobody here knows.

use super::events;

events! {
    /// A frame that has no event of its own, so that nothing is ever dropped.
    pub struct RawFrame {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The frame's name, such as `system/ui_toast`.
            kind: String,
            /// The frame as it came, as JSON text.
            json: String,
        }
    }
}
