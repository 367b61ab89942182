//! Continuing after a limit of the plan: a session that a person has allowed to goes on by itself, once, when
//! the limit that ended its turn is reset.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_agent::UiMessage;
use tidings_api::{Code, Input};
use tidings_protocol::ui::{RateLimit, TurnResult};

use crate::active::Admission;
use crate::limits::{CONTINUE_CHECK_EVERY, CONTINUE_DELAY};
use crate::live_session::{Change, LiveSession};
use crate::running::input::{PromptReceiver, Sender};
use crate::settings::SessionSettings;
use crate::text::{DeliveredText, Meaning};
use crate::{Error, Sessions};

/// The prompt with which a session continues.
const PROMPT: &str = "continue";

/// The sender of that prompt, and its origin in events.
const SENDER: Sender<'static> = Sender::Server { name: "continue after limit", origin: "limit-reset" };

/// State of a session between a limit and its reset.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AfterLimit {
    /// True if the session may continue by itself.
    pub(crate) is_on: bool,
    /// Reset of the limit that the current turn has run into, in milliseconds since the epoch.
    resets_ms: Option<i64>,
    /// Reset of the limit that ended the last turn, unless a person has acted since.
    ended_until_ms: Option<i64>,
    /// True if it has continued by itself since a person acted last.
    has_continued: bool,
}

impl AfterLimit {
    pub(crate) fn new(is_on: bool) -> Self {
        AfterLimit { is_on, ..AfterLimit::default() }
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == AfterLimit::default()
    }

    /// Turns it on or off. A limit that was reset before is not made up for.
    pub(crate) fn set(&mut self, is_on: bool, now: Timestamp) {
        self.is_on = is_on;
        self.has_continued = false;
        self.ended_until_ms = self.ended_until_ms.filter(|until| *until > now.as_millisecond());
    }

    /// Notes that a limit was reached.
    pub(crate) fn note(&mut self, limit: &RateLimit) {
        if is_reached(limit) {
            let resets_ms = limit.resets_at.map(|seconds| seconds.saturating_mul(1000));
            // All limits have to be reset.
            self.resets_ms = self.resets_ms.max(resets_ms);
        }
    }

    /// Notes the end of a turn: one that failed after a limit was reached can be continued.
    pub(crate) fn turn_ended(&mut self, result: &TurnResult) {
        let resets_ms = self.resets_ms.take().or_else(|| reset_in(result.error.as_deref()?));
        let is_limited = result.is_error && !result.is_interrupted();
        self.ended_until_ms = resets_ms.filter(|_| is_limited);
    }

    /// Forgets the limit: a person has acted.
    pub(crate) fn cancel(&mut self) {
        *self = AfterLimit::new(self.is_on);
    }

    /// Time at which the session continues.
    pub(crate) fn continues_at(&self) -> Option<Timestamp> {
        let until = self.ended_until_ms.filter(|_| self.is_on && !self.has_continued)?;
        Timestamp::from_millisecond(until).ok()?.checked_add(CONTINUE_DELAY).ok()
    }

    /// Begins to continue. Fails if it is not due, or not any more.
    pub(crate) fn begin(&mut self, now: Timestamp) -> Result<(), Error> {
        if self.continues_at().is_none_or(|at| at > now) {
            return Err(Error::new(Code::Conflict, "The session does not wait for a limit any more", ""));
        }
        *self = AfterLimit { has_continued: true, ..AfterLimit::new(self.is_on) };
        Ok(())
    }
}

/// True if the limit is reached, and no paid use beyond the plan is active.
pub(crate) fn is_reached(limit: &RateLimit) -> bool {
    limit.status == "rejected" && limit.is_using_overage != Some(true)
}

/// The reset time in the error text of older versions of the CLI, in milliseconds:
/// `Claude AI usage limit reached|1749924000`.
fn reset_in(error: &str) -> Option<i64> {
    let (_, seconds) = error.split_once("limit reached|")?;
    let digits = seconds.trim_end().split(|char: char| !char.is_ascii_digit()).next()?;
    digits.parse::<i64>().ok()?.checked_mul(1000)
}

/// Continues sessions whose limits are reset, until the server ends.
pub(crate) fn watch(sessions: &Sessions) {
    let shared = Arc::downgrade(&sessions.0);
    drop(tokio::spawn(async move {
        loop {
            tokio::time::sleep(CONTINUE_CHECK_EVERY).await;
            let Some(sessions) = shared.upgrade().map(Sessions) else { return };
            let now = sessions.config().clock.now();
            let due: Vec<Arc<LiveSession>> = {
                let used = sessions.active();
                let entries = used.values().map(|used| &used.entry);
                entries.filter(|entry| entry.is_limit_over(now)).map(Arc::clone).collect()
            };
            for entry in due {
                sessions.continue_session(&entry).await;
            }
        }
    }));
}

impl Sessions {
    async fn continue_session(&self, entry: &LiveSession) {
        if *self.0.opening.lock().await == Admission::Closed {
            return;
        }
        // Without a free slot the next check tries again.
        let Ok(slot) = self.slot_for(&entry.key).await else { return };
        let input = Input { content: PROMPT.to_owned(), ..Input::default() };
        let text = DeliveredText { text: PROMPT.to_owned(), files: Vec::new(), meaning: Meaning::Plain };
        match entry.enqueue(SENDER, input, text, None, PromptReceiver::Agent).await {
            Ok(_) => entry.deliver_now(Some(slot)),
            Err(error) if error.code() == Code::BudgetExhausted => entry.give_up_continuing(&error).await,
            Err(error) => {
                tracing::warn!(session = %entry.key, %error, "failed to continue a session after a limit");
            }
        }
    }
}

impl LiveSession {
    fn is_limit_over(&self, now: Timestamp) -> bool {
        let memory = self.memory();
        let is_due = memory.settings.after_limit.continues_at().is_some_and(|at| at <= now);
        // Until its agent was found or is known to be gone, a session is held.
        let is_ready = !memory.is_detached && !memory.is_busy() && memory.closing.is_none();
        is_due && is_ready && memory.observed.is_none() && !memory.settings.is_observed
    }

    /// A person has acted: the session does not continue by itself.
    pub(crate) async fn cancel_continuing(&self) -> Result<(), Error> {
        if self.memory().settings.after_limit.continues_at().is_none() || self.journal().is_full() {
            return Ok(());
        }
        let cancel = |settings: &mut SessionSettings, _: &_| {
            settings.after_limit.cancel();
            Ok(Change::default())
        };
        self.change(cancel).await.map(drop)
    }

    async fn give_up_continuing(&self, error: &Error) {
        let message = format!("The session did not continue after the limit. {error}");
        let event = UiMessage::Error { message, session_id: Some(self.handle) };
        let draft = self.draft(&event);
        let cancel = |settings: &mut SessionSettings, _: &_| {
            settings.after_limit.cancel();
            Ok(Change { event: Some(draft), ..Change::default() })
        };
        if let Err(error) = self.change(cancel).await {
            tracing::warn!(session = %self.key, %error, "failed to store that a session does not continue");
        }
    }
}

#[cfg(test)]
mod tests {
    use tidings_protocol::ui::TurnId;

    use super::*;

    const RESET: i64 = 1_794_800_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn limit(resets_at: Option<i64>) -> RateLimit {
        let mut limit = RateLimit::new(1, "rejected");
        limit.resets_at = resets_at;
        limit
    }

    fn ended(is_error: bool) -> TurnResult {
        TurnResult::new(1, TurnId::new_assistant_turn(1), "success", is_error)
    }

    fn limited(is_on: bool) -> AfterLimit {
        let mut state = AfterLimit::new(is_on);
        state.note(&limit(Some(RESET)));
        state.turn_ended(&ended(true));
        state
    }

    fn delay() -> i64 {
        i64::try_from(CONTINUE_DELAY.as_secs()).unwrap()
    }

    #[test]
    fn a_session_continues_once_after_the_reset() {
        let mut state = limited(true);
        assert_eq!(state.continues_at(), Some(at(RESET + delay())));
        assert!(state.begin(at(RESET)).is_err(), "too early");
        state.begin(at(RESET + delay())).unwrap();
        assert!(state.begin(at(RESET + delay())).is_err(), "twice");
        // The limit is reached again: now a person decides.
        state.note(&limit(Some(RESET + 18_000)));
        state.turn_ended(&ended(true));
        assert_eq!(state.continues_at(), None);
        state.cancel();
        state.note(&limit(Some(RESET + 18_000)));
        state.turn_ended(&ended(true));
        assert_eq!(state.continues_at(), Some(at(RESET + 18_000 + delay())), "a prompt starts anew");
    }

    #[test]
    fn a_session_does_not_continue_unless_a_limit_ended_its_turn() {
        assert_eq!(limited(false).continues_at(), None, "off");
        let mut state = AfterLimit::new(true);
        state.turn_ended(&ended(true));
        assert_eq!(state.continues_at(), None, "another error");
        state.note(&limit(Some(RESET)));
        state.turn_ended(&ended(false));
        assert_eq!(state.continues_at(), None, "the turn went well in the end");
        let mut overage = limit(Some(RESET));
        overage.is_using_overage = Some(true);
        for limit in [overage, limit(None), RateLimit::new(1, "allowed_warning")] {
            state.note(&limit);
            state.turn_ended(&ended(true));
            assert_eq!(state.continues_at(), None, "{limit:?}");
        }
        let mut interrupted = ended(true);
        interrupted.terminal_reason = Some("aborted_streaming".to_owned());
        state.note(&limit(Some(RESET)));
        state.turn_ended(&interrupted);
        assert_eq!(state.continues_at(), None, "a person interrupted it");
    }

    #[test]
    fn it_can_be_turned_on_until_the_reset_and_off() {
        let mut state = limited(false);
        state.set(true, at(RESET - 1));
        assert!(state.continues_at().is_some());
        state.set(false, at(RESET - 1));
        assert_eq!(state.continues_at(), None);
        let mut late = limited(false);
        late.set(true, at(RESET + 3600));
        assert_eq!(late.continues_at(), None, "nothing starts by itself long after the reset");
    }

    #[test]
    fn all_limits_have_to_be_reset_and_old_errors_name_theirs() {
        let mut state = AfterLimit::new(true);
        state.note(&limit(Some(RESET + 86_400)));
        state.note(&limit(Some(RESET)));
        state.turn_ended(&ended(true));
        assert_eq!(state.continues_at(), Some(at(RESET + 86_400 + delay())));
        let mut old = ended(true);
        old.error = Some(format!("Claude AI usage limit reached|{RESET}"));
        let mut state = AfterLimit::new(true);
        state.turn_ended(&old);
        assert_eq!(state.continues_at(), Some(at(RESET + delay())));
        for text in ["usage limit reached|", "limit reached|x", "limit reached|99999999999999999999"] {
            assert_eq!(reset_in(text), None, "{text}");
        }
    }
}
