//! Marks that people put on sessions.

use super::shapes;

shapes! {
    /// Marks of sessions, the same on all devices.
    #[derive(Default)]
    pub struct MarkList {
        /// Marked sessions.
        pub items: Vec<SessionMarks>,
        /// Time of the first use of marks: sessions that were not used since, and never shown, count as seen.
        pub since: String,
    }

    /// Marks of one session.
    #[derive(Default)]
    pub struct SessionMarks {
        /// Key of the session, or the id of a session on disk.
        pub session: String,
        /// True if it is listed first; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub pinned: bool,
        /// True if it is listed with the archived ones; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub archived: bool,
        /// Part of it that was shown: its turns, or for a session on disk its last change in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub seen: Option<u64>,
    }

    /// Changes of the marks of one session. Absent ones stay as they are.
    #[derive(Default)]
    pub struct PatchMarks {
        /// Pins it, or not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pinned: Option<bool>,
        /// Lists it with the archived ones, or not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub archived: Option<bool>,
        /// Part of it that was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub seen: Option<u64>,
    }
}
