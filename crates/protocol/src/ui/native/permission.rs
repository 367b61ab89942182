//! Resolutions of pending requests.

use super::closed_enums;

closed_enums! {
    /// Resolution of a pending request.
    pub enum Resolution {
        /// The call was allowed.
        Allowed,
        /// The call was denied.
        Denied,
        /// The questions were answered.
        Answered,
        /// No answer arrived in time.
        TimedOut,
        /// The agent disconnected before an answer.
        Disconnected,
        /// The agent withdrew the request.
        Cancelled,
        /// An answer was given, and its delivery is unknown.
        Lost,
    }
}
