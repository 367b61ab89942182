//! Status of a session.

use parking_lot::Mutex;
use serde::Serialize;
use tidings_protocol::ui::{SessionPhase, TurnId, UiMessage};

/// Status of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionStatus {
    /// The number that its events carry.
    pub handle: i64,
    /// The agent's own session id, by which it can be resumed.
    pub cli_session_id: Option<String>,
    /// The current activity.
    pub phase: SessionPhase,
    /// The model in use.
    pub model: Option<String>,
    /// The permission mode of the agent.
    pub permission_mode: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The turn in progress.
    pub open_turn: Option<TurnId>,
    /// The number of completed turns.
    pub turns: u64,
    /// Prompt tokens of the last response: the size of the context.
    pub input_tokens: i64,
    /// Tokens generated in the last response.
    pub output_tokens: i64,
    /// Cost of the session in US dollars, as counted by the agent.
    pub cost_usd: f64,
    /// The number of open permission requests.
    pub pending_permissions: usize,
    /// The number of open questions to the user.
    pub pending_questions: usize,
}

#[derive(Debug)]
pub(super) struct StatusCell(Mutex<SessionStatus>);

impl StatusCell {
    pub(super) fn new(handle: i64) -> Self {
        StatusCell(Mutex::new(SessionStatus {
            handle,
            cli_session_id: None,
            phase: SessionPhase::Idle,
            model: None,
            permission_mode: None,
            cwd: None,
            title: None,
            open_turn: None,
            turns: 0,
            input_tokens: 0,
            output_tokens: 0,
            cost_usd: 0.0,
            pending_permissions: 0,
            pending_questions: 0,
        }))
    }

    pub(super) fn get(&self) -> SessionStatus {
        self.0.lock().clone()
    }

    /// Updates the status from an event.
    pub(super) fn update_from(&self, event: &UiMessage) {
        match event {
            UiMessage::SessionStarted(started) => {
                let mut status = self.0.lock();
                status.cli_session_id = Some(started.cli_session_id.clone());
                update(&mut status.model, started.model.as_ref());
                update(&mut status.cwd, started.cwd.as_ref());
                update(&mut status.permission_mode, started.permission_mode.as_ref());
            }
            UiMessage::SessionTitle(title) => self.0.lock().title = Some(title.title.clone()),
            UiMessage::SessionStateChanged(changed) => self.0.lock().phase = changed.state,
            UiMessage::SettingsChanged(changed) => {
                let mut status = self.0.lock();
                update(&mut status.model, changed.model.as_ref());
                update(&mut status.permission_mode, changed.permission_mode.as_ref());
            }
            UiMessage::TurnStarted(started) => self.0.lock().open_turn = Some(started.turn_id),
            UiMessage::TurnResult(result) => {
                if let Some(cost) = result.cost_usd {
                    self.0.lock().cost_usd = cost;
                }
            }
            UiMessage::Complete { .. } => {
                let mut status = self.0.lock();
                status.open_turn = None;
                status.turns += 1;
            }
            UiMessage::TokenUpdate { input_tokens, output_tokens, .. } => {
                let mut status = self.0.lock();
                status.input_tokens = *input_tokens;
                status.output_tokens = *output_tokens;
            }
            _ => {}
        }
    }
}

/// Replaces a value if the event has a new one.
fn update(field: &mut Option<String>, new: Option<&String>) {
    if let Some(new) = new {
        *field = Some(new.clone());
    }
}
