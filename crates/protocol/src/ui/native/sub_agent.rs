//! Outcomes of sub-agents.

use super::closed_enums;

closed_enums! {
    /// Outcome of a sub-agent.
    pub enum SubAgentOutcome {
        /// It finished.
        Completed,
        /// It failed.
        Failed,
        /// It was stopped.
        Stopped,
    }
}
