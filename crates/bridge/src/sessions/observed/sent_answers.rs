//! Answers that are on their way to a dialog, which may be answered at the keyboard in the same moment.
//!
//! The CLI takes the first answer, and reports which one it took only afterwards: it writes the decision of a
//! hook or the rejection of a user into the session file, or runs the tool.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{IDLE, WAITING};
use crate::limits::{ANNOUNCED_CALLS_MAX, APPROVAL_WAIT, DIALOG_CLOSES_WITHIN, REPORT_WAIT};

/// Time between two looks at the status.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// An answer to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sessions) enum SentAnswer {
    /// The tool may run.
    Allow,
    /// It may not.
    Deny,
}

/// Effect of an answer on the dialog of the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerState {
    /// Not known yet.
    Sent(SentAnswer),
    /// It was the first one, or the other one says the same.
    Taken,
    /// The answer at the keyboard was another one, and came before.
    Overruled,
}

/// Answers for one process, by tool call.
#[derive(Debug, Default)]
pub(in crate::sessions) struct SentAnswers {
    by_call: Mutex<HashMap<String, AnswerState>>,
    changed: Notify,
}

impl SentAnswers {
    /// Notes an answer that is about to be sent.
    pub(in crate::sessions) fn send(&self, tool_use_id: &str, answer: SentAnswer) {
        let mut sent = self.by_call.lock();
        if sent.len() >= ANNOUNCED_CALLS_MAX {
            sent.clear();
        }
        sent.insert(tool_use_id.to_owned(), AnswerState::Sent(answer));
    }

    /// Notes that the CLI took an answer.
    pub(super) fn take(&self, tool_use_id: &str) {
        if let Some(state) = self.by_call.lock().get_mut(tool_use_id) {
            *state = AnswerState::Taken;
        }
        self.changed.notify_waiters();
    }

    /// Notes an answer at the keyboard. Returns true if it overrules one that was sent.
    pub(super) fn answered_locally(&self, tool_use_id: &str, local: SentAnswer) -> bool {
        let is_overruled = match self.by_call.lock().get_mut(tool_use_id) {
            Some(state @ AnswerState::Sent(_)) => {
                let is_same = *state == AnswerState::Sent(local);
                *state = if is_same { AnswerState::Taken } else { AnswerState::Overruled };
                !is_same
            }
            _ => false,
        };
        self.changed.notify_waiters();
        is_overruled
    }

    /// Waits until it is known what the CLI did with an answer. Returns true if the keyboard overruled it.
    ///
    /// `status` is the status that the CLI reports. What it does not tell for some time after the end of its
    /// dialog counts as not overruled: a busy machine closes the dialog late, too.
    pub(in crate::sessions) async fn is_overruled(
        &self,
        tool_use_id: &str,
        status: impl Fn() -> Option<String>,
    ) -> bool {
        let is_denial = self.state(tool_use_id) == Some(AnswerState::Sent(SentAnswer::Deny));
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
        };
        tokio::select! {
            is_overruled = self.outcome(tool_use_id) => is_overruled,
            () = over => false,
        }
    }

    async fn outcome(&self, tool_use_id: &str) -> bool {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            match self.state(tool_use_id) {
                Some(AnswerState::Sent(_)) => changed.await,
                state => return state == Some(AnswerState::Overruled),
            }
        }
    }

    fn state(&self, tool_use_id: &str) -> Option<AnswerState> {
        self.by_call.lock().get(tool_use_id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::BUSY;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_stands_unless_the_keyboard_said_otherwise_before() {
        let busy = || Some(BUSY.to_owned());
        let sent = SentAnswers::default();
        for id in ["taken", "late", "ran"] {
            sent.send(id, SentAnswer::Deny);
        }
        sent.send("rejected", SentAnswer::Allow);
        sent.take("taken");
        assert!(!sent.is_overruled("taken", busy).await);
        assert!(!sent.is_overruled("late", busy).await, "nothing is known in time");
        let ran = async { sent.answered_locally("ran", SentAnswer::Allow) };
        let (is_overruled, is_new) = tokio::join!(sent.is_overruled("ran", busy), ran);
        assert_eq!((is_overruled, is_new), (true, true));
        assert!(sent.answered_locally("rejected", SentAnswer::Deny));
        assert!(sent.is_overruled("rejected", busy).await);
        assert!(!sent.answered_locally("taken", SentAnswer::Allow), "it was told before");
        assert!(!sent.answered_locally("another", SentAnswer::Allow));
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_counts_from_the_end_of_the_dialog() {
        let sent = SentAnswers::default();
        sent.send("call", SentAnswer::Allow);
        let began = tokio::time::Instant::now();
        let status =
            || Some(if began.elapsed() < Duration::from_secs(3) { WAITING } else { IDLE }.to_owned());
        let rejected = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            sent.answered_locally("call", SentAnswer::Deny)
        };
        assert_eq!(tokio::join!(sent.is_overruled("call", status), rejected), (true, true));
        // An approval that the dialog took is waited for only shortly.
        let busy = || Some(BUSY.to_owned());
        sent.send("another", SentAnswer::Allow);
        let began = tokio::time::Instant::now();
        assert!(!sent.is_overruled("another", busy).await);
        assert!(began.elapsed() <= APPROVAL_WAIT + LOOK_EVERY);
    }
}
