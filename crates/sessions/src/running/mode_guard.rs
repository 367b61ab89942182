//! The permission mode that a client chose, which the agent may not loosen by itself.

use tidings_agent::UiMessage;
use tidings_api::ServerPhase;
use tidings_journal::AuditDraft;
use tidings_protocol::ui::SettingsChanged;

use crate::backends::Setting;
use crate::capabilities::{BYPASS, USUAL_MODE};
use crate::limits::{MODE_RESTORE_WAIT, MODE_RESTORES_MAX};
use crate::running::actor::Actor;

/// The mode of a session's agent: the one that was chosen, and the looser one that it took by itself.
#[derive(Debug, Default)]
pub(crate) struct ModeGuard {
    /// The mode that a client chose, or that an approved plan set.
    chosen: Option<String>,
    /// True once the agent has reported how it began.
    has_begun: bool,
    loosened: Option<String>,
    restored: u32,
}

/// The judgement of a mode that an agent reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportedMode {
    /// It may have it, or the event has none.
    Accepted,
    /// It is looser than the one that was chosen.
    Looser,
}

impl ModeGuard {
    /// An agent starts with a mode.
    pub(crate) fn start(&mut self, mode: &str) {
        *self = ModeGuard { chosen: Some(mode.to_owned()), ..ModeGuard::default() };
    }

    /// A client with the right scope chooses a mode. Returns the one before.
    pub(crate) fn choose(&mut self, mode: Option<String>) -> Option<String> {
        self.loosened = None;
        std::mem::replace(&mut self.chosen, mode)
    }

    /// A person has approved that the agent ends its plan mode.
    pub(crate) fn leave_plan(&mut self) {
        if self.chosen() == "plan" {
            self.choose(Some(USUAL_MODE.to_owned()));
        }
    }

    /// Judges the mode in an event of the agent. `backend` is the name of an agent other than Claude Code.
    pub(crate) fn judge(&self, event: &UiMessage, backend: Option<&str>) -> ReportedMode {
        let Some(mode) = reported(event) else { return ReportedMode::Accepted };
        // Another agent may have no mode that fits the chosen one, and begins with its own.
        let is_own_beginning = backend.is_some() && self.is_beginning(event) && mode != BYPASS;
        if is_looser(self.chosen(), mode) && !is_own_beginning {
            ReportedMode::Looser
        } else {
            ReportedMode::Accepted
        }
    }

    /// Notes the mode in an event that was stored.
    pub(crate) fn note(&mut self, event: &UiMessage, judged: ReportedMode) {
        let Some(mode) = reported(event) else { return };
        match judged {
            ReportedMode::Looser => self.loosened = Some(mode.to_owned()),
            ReportedMode::Accepted => {
                self.loosened = None;
                if self.is_beginning(event) && is_looser(self.chosen(), mode) {
                    self.chosen = Some(mode.to_owned());
                }
            }
        }
        self.has_begun |= matches!(event, UiMessage::SessionStarted(_));
    }

    fn is_beginning(&self, event: &UiMessage) -> bool {
        !self.has_begun && matches!(event, UiMessage::SessionStarted(_))
    }

    fn chosen(&self) -> &str {
        self.chosen.as_deref().unwrap_or(USUAL_MODE)
    }

    /// The looser mode and the chosen one, if the agent must be switched back.
    fn take_loosened(&mut self) -> Option<(String, String)> {
        let loosened = self.loosened.take()?;
        self.restored += 1;
        Some((loosened, self.chosen().to_owned()))
    }
}

/// The mode in an event.
fn reported(event: &UiMessage) -> Option<&str> {
    match event {
        UiMessage::SessionStarted(started) => started.permission_mode.as_deref(),
        UiMessage::SettingsChanged(changed) => changed.permission_mode.as_deref(),
        _ => None,
    }
}

/// True if an agent that was given one mode asks about less in another. An unknown mode counts as looser.
fn is_looser(chosen: &str, reported: &str) -> bool {
    let looseness = |mode: &str| match mode {
        "plan" => Some(0),
        "default" | "manual" => Some(1),
        "acceptEdits" => Some(2),
        "dontAsk" => Some(3),
        "auto" => Some(4),
        BYPASS => Some(5),
        _ => None,
    };
    let limit = match chosen {
        // It denies what others ask about, so none but the usual mode is stricter.
        "dontAsk" => 1,
        chosen => looseness(chosen).unwrap_or(1),
    };
    reported != chosen && looseness(reported).is_none_or(|loose| loose > limit)
}

impl Actor {
    /// Switches an agent back that has taken a looser mode by itself, or stops it if that fails.
    pub(crate) async fn restore_mode(&mut self) {
        let (agent, taken, restored) = {
            let mut memory = self.entry.memory();
            let Some(agent) = memory.agent.clone() else { return };
            let Some(taken) = memory.mode.take_loosened() else { return };
            (agent, taken, memory.mode.restored)
        };
        let (loosened, chosen) = taken;
        // An agent that takes it again and again is not held back by this.
        let is_restored = restored <= MODE_RESTORES_MAX && {
            let set = tokio::time::timeout(MODE_RESTORE_WAIT, agent.set(Setting::Mode(&chosen)));
            matches!(set.await, Ok(Ok(())))
        };
        let (decision, outcome) = if is_restored {
            ("switched mode back", format!("it was switched back to `{chosen}`"))
        } else {
            ("stopped for its mode", format!("it was not switched back to `{chosen}`, so it was stopped"))
        };
        tracing::warn!(session = %self.entry.key, loosened, chosen, is_restored, "an agent loosened its mode");
        let audit = AuditDraft {
            session: Some(self.entry.key.to_string()),
            rule: Some(format!("{loosened} to {chosen}")),
            ..AuditDraft::new(self.entry.clock.now(), "server", decision)
        };
        if let Err(error) = self.entry.journal().audit(audit).await {
            tracing::error!(session = %self.entry.key, %error, "failed to write to the audit log");
        }
        self.report_error(format!("The agent switched itself to the mode `{loosened}`; {outcome}")).await;
        if !is_restored {
            return self.end(ServerPhase::Stopped).await;
        }
        let mut event = SettingsChanged::new(self.entry.handle);
        event.permission_mode = Some(chosen);
        if let Err(error) = self.entry.append_event(&event.into(), None).await {
            tracing::warn!(session = %self.entry.key, %error, "failed to store the mode of a session");
        }
    }
}

#[cfg(test)]
mod tests {
    use tidings_protocol::ui::SessionStarted;

    use super::*;

    #[test]
    fn k30_only_modes_that_ask_about_more_are_accepted_unasked() {
        let looser = [
            ("plan", "default"),
            ("plan", "acceptEdits"),
            ("default", "acceptEdits"),
            ("default", "dontAsk"),
            ("default", "auto"),
            ("manual", "bypassPermissions"),
            ("acceptEdits", "auto"),
            ("auto", "bypassPermissions"),
            ("dontAsk", "acceptEdits"),
            ("default", "yolo"),
            ("bypassPermissions", "something-new"),
            ("architect", "bypassPermissions"),
            ("architect", "code"),
        ];
        let same_or_stricter = [
            ("default", "default"),
            ("default", "plan"),
            ("manual", "default"),
            ("default", "manual"),
            ("acceptEdits", "default"),
            ("bypassPermissions", "auto"),
            ("dontAsk", "default"),
            ("architect", "architect"),
            ("architect", "plan"),
        ];
        for (chosen, reported) in looser {
            assert!(is_looser(chosen, reported), "{chosen} to {reported}");
        }
        for (chosen, reported) in same_or_stricter {
            assert!(!is_looser(chosen, reported), "{chosen} to {reported}");
        }
    }

    #[test]
    fn k30_another_agent_begins_with_its_own_mode_and_keeps_it() {
        let mut guard = ModeGuard::default();
        guard.start("default");
        let started = |mode: &str| -> UiMessage {
            let mut started = SessionStarted::new(1, "s");
            started.permission_mode = Some(mode.to_owned());
            started.into()
        };
        assert_eq!(guard.judge(&started("architect"), None), ReportedMode::Looser, "Claude Code has no such");
        assert_eq!(guard.judge(&started(BYPASS), Some("gemini")), ReportedMode::Looser);
        assert_eq!(guard.judge(&started("architect"), Some("gemini")), ReportedMode::Accepted);
        guard.note(&started("architect"), ReportedMode::Accepted);
        assert_eq!(guard.judge(&started("architect"), Some("gemini")), ReportedMode::Accepted);
        assert_eq!(guard.judge(&started("code"), Some("gemini")), ReportedMode::Looser, "only once");
    }
}
