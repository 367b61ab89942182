//! Sessions as clients see them.

use tidings_protocol::api::{ServerPhase, SessionCapability, SessionView};

use super::settings::SessionSettings;
use crate::journal::{Handle, Session};

/// Numbers of pending requests of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PendingCounts {
    pub(super) permissions: u64,
    pub(super) questions: u64,
}

pub(super) fn view(row: &Session, settings: &SessionSettings, pending: PendingCounts) -> SessionView {
    SessionView {
        handle: number(row.handle),
        key: row.key.to_string(),
        cwd: row.cwd.clone(),
        title: row.title.clone(),
        first_prompt: settings.first_prompt.clone(),
        labels: row.labels.clone(),
        state: phase(&row.state),
        error: settings.error.clone(),
        turn_interrupted: settings.turn_interrupted,
        stalled: None,
        untrusted: false,
        cli_session_ids: row.cli_sessions.clone(),
        model: settings.launch.model.clone(),
        permission_mode: settings.launch.permission_mode.clone(),
        policy: settings.launch.policy,
        created: row.created.to_string(),
        active: row.active.to_string(),
        cursor: row.head.to_string(),
        head: row.head.seq,
        floor: row.floor,
        totals: settings.totals.clone(),
        budget: settings.budget.clone(),
        pending_permissions: pending.permissions,
        pending_questions: pending.questions,
        queued: settings.queue.len() as u64,
        last_line: settings.last_line.clone(),
        demo: settings.launch.demo,
        origin: settings.origin,
        capabilities: if settings.is_observed { Vec::new() } else { HOSTED.to_vec() },
        limited: settings.is_observed.then(|| "It runs outside of this server".to_owned()),
    }
}

/// Actions on a session whose agent this server runs, or will start for the next prompt.
const HOSTED: [SessionCapability; 9] = [
    SessionCapability::Prompt,
    SessionCapability::Interrupt,
    SessionCapability::Answer,
    SessionCapability::SetModel,
    SessionCapability::SetMode,
    SessionCapability::Rewind,
    SessionCapability::Compact,
    SessionCapability::Clear,
    SessionCapability::Stop,
];

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
    }
}

/// The phase of a row; an unknown one counts as parked.
pub(super) fn phase(word: &str) -> ServerPhase {
    use ServerPhase::{Failed, Idle, Interrupted, NeedsYou, Parked, Running, Starting, Stopped};
    let all = [Starting, Idle, Running, NeedsYou, Parked, Stopped, Interrupted, Failed];
    all.into_iter().find(|phase| self::phase_name(*phase) == word).unwrap_or(Parked)
}
