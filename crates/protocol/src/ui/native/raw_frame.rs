//! Frames that have no event of their own.

use super::events;

events! {
    /// A frame that has no event of its own, passed on so that nothing is dropped.
    pub struct RawFrame {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The frame's name, such as `system/ui_toast`.
            kind: String,
            /// The frame as JSON text, unchanged.
            json: String,
        }
    }
}
