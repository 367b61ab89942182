//! Inputs from session files, which lack some frames of a running agent.

use tidings_protocol::ui::{SessionPhase, SessionStarted, StopReason, UiMessage};

use super::Fold;
use super::out::Out;
use super::result::NO_RESULT;

impl Fold {
    /// Records the session that an entry belongs to.
    pub(crate) fn note_recorded(&mut self, id: Option<&str>, cwd: Option<&str>, events: &mut Vec<UiMessage>) {
        if self.state.session.id.is_some() {
            return;
        }
        let Some(id) = id else { return };
        self.state.session.id = Some(id.to_owned());
        let mut event = SessionStarted::new(self.handle, id);
        event.cwd = cwd.map(str::to_owned);
        events.push(event.into());
    }

    /// Records that a background task caused the next turn.
    pub(crate) fn note_notification(&mut self) {
        self.state.turns.notified = true;
    }

    /// Begins a turn without a message of the model: a slash command.
    pub(crate) fn begin_recorded(&mut self, events: &mut Vec<UiMessage>) {
        self.begin_turn(&mut Out { events, handle: self.handle, agent: None });
    }

    /// Records that the agent works, although nothing of its turn was written yet.
    pub(crate) fn note_busy(&mut self, events: &mut Vec<UiMessage>) {
        if self.phase() == SessionPhase::Idle {
            self.enter(SessionPhase::Running, &mut Out { events, handle: self.handle, agent: None });
        }
    }

    /// Records that the agent does not work.
    pub(crate) fn note_rest(&mut self, events: &mut Vec<UiMessage>) {
        self.enter(self.resting_phase(), &mut Out { events, handle: self.handle, agent: None });
    }

    /// Records the dialog in the agent's own terminal that it waits in, or that there is none any more.
    pub(crate) fn note_dialog(&mut self, dialog: Option<&str>, events: &mut Vec<UiMessage>) {
        if self.state.dialog.as_deref() == dialog {
            return;
        }
        self.state.dialog = dialog.map(str::to_owned);
        self.enter(self.resting_phase(), &mut Out { events, handle: self.handle, agent: None });
    }

    /// Adds a prompt to those that the open turn answers.
    pub(crate) fn add_recorded_prompt(&mut self, uuid: &str) {
        self.state.turns.start(uuid);
    }

    /// Ends the open turn; session files contain no result frames.
    pub(crate) fn end_recorded(
        &mut self,
        stop_reason: Option<StopReason>,
        error: Option<&str>,
        events: &mut Vec<UiMessage>,
    ) {
        let out = &mut Out { events, handle: self.handle, agent: None };
        if self.state.turns.open.is_none() {
            return;
        }
        self.state.calls.end_turn(NO_RESULT, out);
        let Some(turn) = self.state.turns.end() else { return };
        if let Some(error) = error {
            out.error(error);
        }
        self.command_complete(&turn, None, out);
        let stop_reason = stop_reason.unwrap_or(StopReason::EndTurn);
        out.push(UiMessage::Complete { session_id: self.handle, turn_id: turn.id, stop_reason });
        self.enter(self.resting_phase(), out);
    }
}
