//! The dialog that a process waits in, as its own file says.
//!
//! A request that a hook has made is the better source: it says what is asked, and can be answered here. The
//! file tells of every other dialog: without hooks, after a restart of the server, and if a hook found the
//! server asleep.

use std::time::Instant;

use tidings_transcript::running::RunningCli;

use super::{ObservedProcess, WAITING};
use crate::limits::{DIALOG_AFTER, SCREEN_AFTER};
use crate::live_session::LiveSession;

/// The word for a screen that is no question: that of `/usage`, or a choice such as that of `/model`.
const SCREEN: &str = "dialog open";

/// A dialog that a process reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownDialog {
    /// Its kind, as the CLI names it.
    name: String,
    /// The time since which it is open and no request is about it.
    since: Instant,
}

impl ShownDialog {
    /// The dialog that a process shows now; `before` is the one that it showed before.
    pub(super) fn of(running: &RunningCli, before: Option<&ShownDialog>) -> Option<Self> {
        let name = name_of(running)?;
        Some(match before.filter(|before| before.name == name) {
            Some(before) => before.clone(),
            None => ShownDialog { name, since: Instant::now() },
        })
    }

    /// True if its session waits for a person. Users open screens themselves, but one that stays open in the
    /// middle of a turn may be a question of the CLI.
    fn waits(&self, is_turn_open: bool, now: Instant) -> bool {
        let after = if self.name == SCREEN { SCREEN_AFTER } else { DIALOG_AFTER };
        (self.name != SCREEN || is_turn_open) && now.saturating_duration_since(self.since) >= after
    }
}

/// The name of the dialog that a process shows.
fn name_of(running: &RunningCli) -> Option<String> {
    let is_waiting = running.status.as_deref() == Some(WAITING);
    is_waiting.then(|| running.waiting_for.clone().unwrap_or_else(|| "dialog".to_owned()))
}

/// True if a process shows a screen, and no question.
pub(super) fn shows_screen(running: &RunningCli) -> bool {
    name_of(running).as_deref() == Some(SCREEN)
}

impl ObservedProcess {
    /// The dialog that the session waits in and that no request is about.
    pub(crate) fn waits_for(&self) -> Option<String> {
        self.state().waits_for
    }

    /// Compares the dialog with the requests of the session, and returns what it waits for.
    pub(super) fn look_at_dialog(&self, entry: &LiveSession) -> Option<String> {
        let (has_requests, is_turn_open) = {
            let memory = entry.memory();
            (!memory.permissions.is_empty() || !memory.questions.is_empty(), memory.is_turn_open)
        };
        let (mut state, now) = (self.state.lock(), Instant::now());
        if let Some(dialog) = state.dialog.as_mut().filter(|_| has_requests) {
            // When they are answered, it closes in a moment.
            dialog.since = now;
        }
        let waiting = state.dialog.as_ref().filter(|dialog| dialog.waits(is_turn_open, now));
        state.waits_for = waiting.map(|dialog| dialog.name.clone());
        state.waits_for.clone()
    }

    /// Notes that a hook has told of the dialog.
    pub(super) fn note_request(&self) {
        self.update(|state| {
            state.was_waiting = false;
            state.waits_for = None;
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn process(status: &str, dialog: Option<&str>) -> RunningCli {
        let text = serde_json::json!({"sessionId": "s", "status": status, "waitingFor": dialog});
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn r2_a_dialog_waits_when_no_hook_has_told_of_it_in_time() {
        let asks = ShownDialog::of(&process("waiting", Some("permission prompt")), None).unwrap();
        let long_after = asks.since + Duration::from_secs(60);
        assert!(!asks.waits(true, asks.since));
        assert!(asks.waits(true, long_after) && asks.waits(false, long_after));
        let later = ShownDialog::of(&process("waiting", Some("permission prompt")), Some(&asks));
        assert_eq!(later, Some(asks.clone()), "the time counts from its beginning");
        let another = ShownDialog::of(&process("waiting", Some("input needed")), Some(&asks)).unwrap();
        assert_eq!(another.name, "input needed");
        assert!(
            ShownDialog::of(&process("waiting", None), None).is_some(),
            "a version that does not name it"
        );
        for status in ["busy", "idle"] {
            assert_eq!(ShownDialog::of(&process(status, None), Some(&asks)), None);
        }
    }

    #[test]
    fn r2_a_screen_that_the_user_opened_is_no_question() {
        let screen = ShownDialog::of(&process("waiting", Some(SCREEN)), None).unwrap();
        let long_after = screen.since + Duration::from_secs(60);
        assert!(!screen.waits(false, long_after));
        assert!(screen.waits(true, long_after), "a turn that stands still in it waits");
        assert!(shows_screen(&process("waiting", Some(SCREEN))));
        assert!(!shows_screen(&process("waiting", Some("permission prompt"))));
        assert!(!shows_screen(&process("idle", None)));
    }
}
