//! How a session stands.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tidings_protocol::ui::{SessionPhase, TurnId, UiMessage};

/// How a session stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionStatus {
    /// The number that its events carry.
    pub handle: i64,
    /// The agent's own name for it, by which it can be resumed.
    pub cli_session_id: Option<String>,
    /// What it is doing.
    pub phase: SessionPhase,
    /// The model that answers.
    pub model: Option<String>,
    /// What the agent may do unasked.
    pub permission_mode: Option<String>,
    /// The folder it works in.
    pub cwd: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The turn that is under way.
    pub open_turn: Option<TurnId>,
    /// Turns that have ended.
    pub turns: u64,
    /// Tokens of the prompt of the last response: what the context holds.
    pub input_tokens: i64,
    /// Tokens generated in the last response.
    pub output_tokens: i64,
    /// What the session has cost, as the agent counts it.
    pub cost_usd: f64,
    /// Questions about tools that are open.
    pub pending_permissions: usize,
    /// Questions to the person that are open.
    pub pending_questions: usize,
}

#[derive(Debug)]
pub(super) struct Shared(Mutex<SessionStatus>);

impl Shared {
    pub(super) fn new(handle: i64) -> Self {
        Shared(Mutex::new(SessionStatus {
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
        self.lock().clone()
    }

    /// Takes in what an event says.
    pub(super) fn note(&self, event: &UiMessage) {
        match event {
            UiMessage::SessionStarted(started) => {
                let mut status = self.lock();
                status.cli_session_id = Some(started.cli_session_id.clone());
                keep(&mut status.model, started.model.as_ref());
                keep(&mut status.cwd, started.cwd.as_ref());
                keep(&mut status.permission_mode, started.permission_mode.as_ref());
            }
            UiMessage::SessionTitle(title) => self.lock().title = Some(title.title.clone()),
            UiMessage::SessionStateChanged(changed) => self.lock().phase = changed.state,
            UiMessage::SettingsChanged(changed) => {
                let mut status = self.lock();
                keep(&mut status.model, changed.model.as_ref());
                keep(&mut status.permission_mode, changed.permission_mode.as_ref());
            }
            UiMessage::TurnStarted(started) => self.lock().open_turn = Some(started.turn_id),
            UiMessage::TurnResult(result) => {
                if let Some(cost) = result.cost_usd {
                    self.lock().cost_usd = cost;
                }
            }
            UiMessage::Complete { .. } => {
                let mut status = self.lock();
                status.open_turn = None;
                status.turns += 1;
            }
            UiMessage::TokenUpdate { input_tokens, output_tokens, .. } => {
                let mut status = self.lock();
                status.input_tokens = *input_tokens;
                status.output_tokens = *output_tokens;
            }
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, SessionStatus> {
        // Each change is one assignment; nothing is half done when somebody panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is not said stays.
fn keep(place: &mut Option<String>, said: Option<&String>) {
    if let Some(said) = said {
        *place = Some(said.clone());
    }
}
