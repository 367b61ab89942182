//! Parts of the view of a session: its number, its phase, and the numbers of its pending requests.

use tidings_protocol::api::ServerPhase;

use crate::journal::Handle;

/// Numbers of pending requests of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PendingCounts {
    pub(super) permissions: u64,
    pub(super) questions: u64,
}

/// The handle as it is in events.
pub(super) fn number(handle: Handle) -> i64 {
    // Handles have 23 bits.
    i64::try_from(handle.number()).unwrap_or(i64::MAX)
}

/// True if a session in this phase has a started agent.
pub(super) fn has_agent(phase: ServerPhase) -> bool {
    matches!(phase, ServerPhase::Idle | ServerPhase::Running | ServerPhase::NeedsYou)
}

/// The name of a phase, as it is in the row.
pub(super) fn phase_name(phase: ServerPhase) -> &'static str {
    match phase {
        ServerPhase::Starting => "starting",
        ServerPhase::Idle => "idle",
        ServerPhase::Running => "running",
        ServerPhase::NeedsYou => "needs_you",
        ServerPhase::Parked => "parked",
        ServerPhase::Stopped => "stopped",
        ServerPhase::Interrupted => "interrupted",
        ServerPhase::Failed => "failed",
        ServerPhase::Unknown => "unknown",
    }
}

/// The phase of a row; an unknown one counts as parked.
pub(super) fn phase(word: &str) -> ServerPhase {
    use ServerPhase::{Failed, Idle, Interrupted, NeedsYou, Parked, Running, Starting, Stopped};
    let all = [Starting, Idle, Running, NeedsYou, Parked, Stopped, Interrupted, Failed];
    all.into_iter().find(|phase| self::phase_name(*phase) == word).unwrap_or(Parked)
}
