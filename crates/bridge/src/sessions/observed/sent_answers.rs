//! Answers that are on their way to a dialog, which may be answered at the keyboard in the same moment.
//!
//! The CLI takes the first answer, and reports which one it took only afterwards: it writes the decision of a
//! hook or the rejection of a user into the session file, or runs the tool.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::limits::{ANNOUNCED_CALLS_MAX, APPROVAL_WAIT, DENIAL_WAIT};

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

    /// Waits until it is known what the CLI did with an answer, for a limited time. Returns true if the
    /// keyboard overruled it.
    pub(in crate::sessions) async fn is_overruled(&self, tool_use_id: &str) -> bool {
        let known = async {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                match self.state(tool_use_id) {
                    Some(AnswerState::Sent(_)) => changed.await,
                    state => return state == Some(AnswerState::Overruled),
                }
            }
        };
        tokio::time::timeout(self.patience(tool_use_id), known).await.unwrap_or_default()
    }

    fn patience(&self, tool_use_id: &str) -> Duration {
        match self.state(tool_use_id) {
            Some(AnswerState::Sent(SentAnswer::Deny)) => DENIAL_WAIT,
            _ => APPROVAL_WAIT,
        }
    }

    fn state(&self, tool_use_id: &str) -> Option<AnswerState> {
        self.by_call.lock().get(tool_use_id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_stands_unless_the_keyboard_said_otherwise_before() {
        let sent = SentAnswers::default();
        for id in ["taken", "late", "ran"] {
            sent.send(id, SentAnswer::Deny);
        }
        sent.send("rejected", SentAnswer::Allow);
        sent.take("taken");
        assert!(!sent.is_overruled("taken").await);
        assert!(!sent.is_overruled("late").await, "nothing is known in time");
        let ran = async { sent.answered_locally("ran", SentAnswer::Allow) };
        let (is_overruled, is_new) = tokio::join!(sent.is_overruled("ran"), ran);
        assert_eq!((is_overruled, is_new), (true, true));
        assert!(sent.answered_locally("rejected", SentAnswer::Deny));
        assert!(sent.is_overruled("rejected").await);
        assert!(!sent.answered_locally("taken", SentAnswer::Allow), "it was told before");
        assert!(!sent.answered_locally("another", SentAnswer::Allow));
    }
}
