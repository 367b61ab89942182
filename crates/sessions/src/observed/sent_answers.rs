//! Answers that are on their way to a dialog, which may be answered at the keyboard in the same moment.
//!
//! The CLI takes the first answer, and reports which one it took only afterwards: it writes the decision of a
//! hook or the rejection of a user into the session file, or runs the tool.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tidings_agent::UiMessage;
use tidings_api::Choice;
use tokio::sync::Notify;

use super::{BUSY, IDLE, WAITING};
use crate::limits::{
    ANNOUNCED_CALLS_MAX, APPROVAL_WAIT, DIALOG_CLOSES_WITHIN, REPORT_WAIT, SILENT_DENIAL_WAIT,
};

/// Time between two looks at the status.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Effect of an answer on the dialog of the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerState {
    /// Not known yet.
    Sent(Choice),
    /// It was the first one, or the other one allows the call, too.
    Taken,
    /// The answer at the keyboard came before.
    Overruled(Choice),
    /// Only the keyboard has answered.
    Local(Choice),
}

/// An answer, and what became of it.
#[derive(Debug)]
struct SentState {
    state: AnswerState,
    /// True once the outcome is stored: nothing changes it afterwards.
    is_stored: bool,
    /// The outcome that the session has reported meanwhile.
    withheld: Option<UiMessage>,
}

/// Answers for one process, by tool call.
#[derive(Debug, Default)]
pub(crate) struct SentAnswers {
    by_call: Mutex<HashMap<String, SentState>>,
    changed: Notify,
}

impl SentAnswers {
    /// Notes an answer that is about to be sent.
    pub(crate) fn send(&self, tool_use_id: &str, answer: Choice) {
        let mut sent = self.by_call.lock();
        // The report of the keyboard may be read before the answer comes.
        let state = match sent.get(tool_use_id).map(|sent| sent.state) {
            Some(AnswerState::Local(local)) => AnswerState::beside(answer, local),
            _ => AnswerState::Sent(answer),
        };
        make_room(&mut sent);
        sent.insert(tool_use_id.to_owned(), SentState { state, is_stored: false, withheld: None });
    }

    /// Notes that the outcome of a request is stored, or is stored by the session itself. Returns the outcome
    /// that the session has reported meanwhile.
    pub(crate) fn stored(&self, tool_use_id: &str) -> Option<UiMessage> {
        let mut sent = self.by_call.lock();
        let sent = sent.get_mut(tool_use_id)?;
        sent.is_stored = true;
        sent.withheld.take()
    }

    /// Withholds an outcome that the session reports between an answer and the storage of what became of it.
    /// Returns true if it is such an outcome.
    pub(crate) fn withhold(&self, tool_use_id: &str, outcome: &UiMessage) -> bool {
        let mut sent = self.by_call.lock();
        let Some(sent) = sent.get_mut(tool_use_id).filter(|sent| !sent.is_stored) else { return false };
        sent.withheld = Some(outcome.clone());
        true
    }

    /// The answer at the keyboard that overruled one, if it is known that there was such an answer.
    pub(crate) fn overruled_by(&self, tool_use_id: &str) -> Option<Choice> {
        self.state(tool_use_id)?.overruled_by()
    }

    /// True if an answer was overruled; none if that is not known.
    #[cfg(test)]
    pub(super) fn is_overruled(&self, tool_use_id: &str) -> Option<bool> {
        match self.state(tool_use_id)? {
            AnswerState::Sent(_) | AnswerState::Local(_) => None,
            state => Some(state.overruled_by().is_some()),
        }
    }

    /// Notes that the CLI took an answer.
    pub(super) fn take(&self, tool_use_id: &str) {
        self.decide(tool_use_id, |_| AnswerState::Taken);
    }

    /// Notes an answer at the keyboard.
    pub(super) fn answered_locally(&self, tool_use_id: &str, local: Choice) {
        let mut sent = self.by_call.lock();
        if !sent.contains_key(tool_use_id) {
            make_room(&mut sent);
            let state = SentState { state: AnswerState::Local(local), is_stored: true, withheld: None };
            sent.insert(tool_use_id.to_owned(), state);
        }
        drop(sent);
        self.decide(tool_use_id, |sent| AnswerState::beside(sent, local));
    }

    /// Decides about an answer, unless that was done before: an answer that was taken stays taken, even if
    /// the call is interrupted later.
    fn decide(&self, tool_use_id: &str, decide: impl FnOnce(Choice) -> AnswerState) -> Option<Choice> {
        let decided = self.by_call.lock().get_mut(tool_use_id).map(|SentState { state, .. }| {
            if let AnswerState::Sent(answer) = *state {
                *state = decide(answer);
            }
            *state
        });
        self.changed.notify_waiters();
        decided?.overruled_by()
    }

    /// Waits until it is known what the CLI did with an answer. Returns the answer at the keyboard, if that
    /// overruled it.
    ///
    /// `status` is the status that the CLI reports. What it does not tell for some time after the end of its
    /// dialog counts as not overruled, but for a denial after which it works on: a denial is reported at
    /// once, and a Yes at the keyboard only when the tool has run.
    pub(crate) async fn outcome(
        &self,
        tool_use_id: &str,
        status: impl Fn() -> Option<String>,
    ) -> Option<Choice> {
        let is_denial = self.state(tool_use_id) == Some(AnswerState::Sent(Choice::Deny));
        let over = async {
            let closed = async {
                while status().as_deref() == Some(WAITING) {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            };
            drop(tokio::time::timeout(DIALOG_CLOSES_WITHIN, closed).await);
            // A denial that was taken, and a rejection at the keyboard, are in the file at once.
            let is_certain_soon = is_denial || status().as_deref() == Some(IDLE);
            tokio::time::sleep(if is_certain_soon { REPORT_WAIT } else { APPROVAL_WAIT }).await;
            // A CLI that reports no denial and works on runs the tool: the keyboard has allowed it.
            let is_running = || is_denial && status().as_deref() == Some(BUSY);
            if is_running() {
                tokio::time::sleep(SILENT_DENIAL_WAIT).await;
            }
            if is_running() { AnswerState::Overruled(Choice::Allow) } else { AnswerState::Taken }
        };
        tokio::select! {
            overruled_by = self.reported(tool_use_id) => overruled_by,
            // The caller is told so, and it stays so.
            state = over => self.decide(tool_use_id, |_| state),
        }
    }

    /// Waits until the CLI has reported which answer it took.
    async fn reported(&self, tool_use_id: &str) -> Option<Choice> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            match self.state(tool_use_id) {
                Some(AnswerState::Sent(_)) => changed.await,
                state => return state?.overruled_by(),
            }
        }
    }

    fn state(&self, tool_use_id: &str) -> Option<AnswerState> {
        self.by_call.lock().get(tool_use_id).map(|sent| sent.state)
    }
}

impl AnswerState {
    /// The state of an answer after the keyboard has answered. Two that allow a call have the same effect; of
    /// two denials only the first one has its reason told to the model.
    fn beside(sent: Choice, local: Choice) -> Self {
        match (sent, local) {
            (Choice::Allow, Choice::Allow) => AnswerState::Taken,
            _ => AnswerState::Overruled(local),
        }
    }

    fn overruled_by(self) -> Option<Choice> {
        if let AnswerState::Overruled(local) = self { Some(local) } else { None }
    }
}

/// Forgets calls that are settled, if there are many.
fn make_room(sent: &mut HashMap<String, SentState>) {
    if sent.len() >= ANNOUNCED_CALLS_MAX {
        sent.retain(|_, sent| !sent.is_stored);
    }
}

#[cfg(test)]
mod tests {
    use tidings_protocol::ui::{PermissionResolved, Resolution};

    use super::*;

    const ALLOWED: Option<Choice> = Some(Choice::Allow);
    const DENIED: Option<Choice> = Some(Choice::Deny);

    #[tokio::test(start_paused = true)]
    async fn an_answer_stands_unless_the_keyboard_said_otherwise_before() {
        let busy = || Some(BUSY.to_owned());
        let sent = SentAnswers::default();
        let idle = || Some(IDLE.to_owned());
        for id in ["taken", "late", "ran", "silent"] {
            sent.send(id, Choice::Deny);
        }
        sent.send("rejected", Choice::Allow);
        sent.take("taken");
        assert_eq!(sent.outcome("taken", busy).await, None);
        assert_eq!(sent.outcome("late", idle).await, None, "nothing is known in time");
        assert_eq!(sent.outcome("silent", busy).await, ALLOWED, "a denial would have been reported");
        let ran = async { sent.answered_locally("ran", Choice::Allow) };
        assert_eq!(tokio::join!(sent.outcome("ran", busy), ran), (ALLOWED, ()));
        sent.answered_locally("rejected", Choice::Deny);
        assert_eq!(sent.outcome("rejected", busy).await, DENIED);
        for id in ["taken", "late"] {
            sent.answered_locally(id, Choice::Allow);
            assert_eq!(sent.overruled_by(id), None, "{id}: it was told before");
        }
        sent.answered_locally("before", Choice::Deny);
        assert_eq!(sent.overruled_by("before"), None);
        sent.send("before", Choice::Allow);
        assert_eq!(sent.outcome("before", busy).await, DENIED, "the report was read before the answer came");
    }

    /// The model is told the reason of the denial that came first.
    #[tokio::test]
    async fn r11_a_denial_after_that_of_the_keyboard_is_told_so() {
        let (sent, busy) = (SentAnswers::default(), || Some(BUSY.to_owned()));
        for (id, answer) in [("denied", Choice::Deny), ("allowed", Choice::Allow)] {
            sent.send(id, answer);
            sent.answered_locally(id, answer);
        }
        assert_eq!(sent.outcome("denied", busy).await, DENIED);
        assert_eq!(sent.outcome("allowed", busy).await, None, "both allow it");
    }

    #[test]
    fn r3_an_answer_is_on_its_way_until_its_outcome_is_stored() {
        let sent = SentAnswers::default();
        let cancelled = UiMessage::from(PermissionResolved::new(1, "call", Resolution::Cancelled));
        assert!(!sent.withhold("call", &cancelled));
        sent.send("call", Choice::Allow);
        sent.take("call");
        assert!(sent.withhold("call", &cancelled));
        assert!(sent.stored("call").is_some() && sent.stored("call").is_none());
        assert!(!sent.withhold("call", &cancelled));
        sent.answered_locally("call", Choice::Deny);
        assert_eq!(sent.overruled_by("call"), None, "a later interruption is no denial");
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_counts_from_the_end_of_the_dialog() {
        let sent = SentAnswers::default();
        sent.send("call", Choice::Allow);
        let began = tokio::time::Instant::now();
        let status =
            || Some(if began.elapsed() < Duration::from_secs(3) { WAITING } else { IDLE }.to_owned());
        let rejected = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            sent.answered_locally("call", Choice::Deny);
        };
        assert_eq!(tokio::join!(sent.outcome("call", status), rejected), (DENIED, ()));
        // An approval that the dialog took is waited for only shortly.
        let busy = || Some(BUSY.to_owned());
        sent.send("another", Choice::Allow);
        let began = tokio::time::Instant::now();
        assert_eq!(sent.outcome("another", busy).await, None);
        assert!(began.elapsed() <= APPROVAL_WAIT + LOOK_EVERY);
    }
}
