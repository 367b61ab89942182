//! States of a session.

use super::closed_enums;

closed_enums! {
    /// State of a session.
    pub enum SessionPhase {
        /// It waits for a prompt.
        Idle,
        /// It works on a turn.
        Running,
        /// A turn waits for an answer of the user.
        WaitingForPerson,
        /// The history is being compacted.
        Compacting,
        /// The process has ended.
        Ended,
    }
}
