//! Status events: only the latest of each kind is kept.

use tidings_protocol::ui::UiMessage;

use super::SnapshotBuilder;

/// Subjects of such events.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Latest {
    Progress(usize, Option<String>),
    Todos(usize, Option<String>),
    Retrying(usize),
    RateLimit(Option<String>),
    State,
    Started,
    Suggestion,
    /// The event that lists the slash commands.
    Commands,
    /// The event with the tokens per model of the whole session.
    ModelUsage,
    /// Any other event, by its lane and name.
    Other(usize, &'static str),
}

impl Latest {
    /// True if it describes the current state even if it is old.
    pub(super) fn is_current(&self) -> bool {
        !matches!(self, Latest::Retrying(_) | Latest::Progress(..) | Latest::ModelUsage)
    }
}

impl SnapshotBuilder {
    /// Adds an event that replaces the one before.
    pub(super) fn add_latest(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let what = match &event {
            UiMessage::Progress(event) => Latest::Progress(lane, event.agent_id.clone()),
            UiMessage::TodoList(event) => Latest::Todos(lane, event.agent_id.clone()),
            UiMessage::Retrying(_) => Latest::Retrying(lane),
            UiMessage::RateLimit(event) => Latest::RateLimit(event.kind.clone()),
            UiMessage::Suggestion(_) => Latest::Suggestion,
            event => Latest::Other(lane, event.name()),
        };
        self.replace_latest(what, seq, lane, event);
    }

    /// Adds an event about the state of the session, which removes a part of the events before.
    pub(super) fn add_status(&mut self, seq: u64, lane: usize, event: UiMessage) {
        match &event {
            UiMessage::SessionStateChanged(event) => {
                self.forget_latest(&Latest::State);
                // The end of a process is a part of the conversation.
                if event.error.is_some() || event.exit_code.is_some() || event.signal.is_some() {
                    return self.push_item(seq, lane, event.clone().into());
                }
                self.replace_latest(Latest::State, seq, lane, event.clone().into());
            }
            UiMessage::SessionStarted(event) => self.started(seq, lane, event.clone().into()),
            UiMessage::SettingsChanged(changed) => {
                let has_commands = changed.slash_commands.is_some();
                let at = self.push(seq, lane, event);
                if has_commands {
                    self.commands_at(at);
                }
            }
            UiMessage::TurnResult(result) => {
                let has_usage = result.model_usage.is_some();
                let at = self.push(seq, lane, event);
                let earlier = has_usage.then(|| self.latest.insert(Latest::ModelUsage, at)).flatten();
                if let Some(UiMessage::TurnResult(earlier)) =
                    earlier.and_then(|at| self.entries[at].event.as_mut())
                {
                    earlier.model_usage = None;
                }
            }
            _ => {
                self.push(seq, lane, event);
            }
        }
    }

    fn replace_latest(&mut self, what: Latest, seq: u64, lane: usize, event: UiMessage) {
        let at = self.push(seq, lane, event);
        if let Some(old) = self.latest.insert(what, at) {
            self.forget(old);
        }
    }

    pub(super) fn forget_latest(&mut self, what: &Latest) {
        if let Some(old) = self.latest.remove(what) {
            self.forget(old);
        }
    }

    /// Adds the start of an agent's process. It repeats everything that the start of the earlier process
    /// reported, so that only the fact of that start is kept.
    fn started(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let earlier = self.latest.remove(&Latest::Started);
        if let (Some(at), UiMessage::SessionStarted(new)) = (earlier, &event)
            && let Some(UiMessage::SessionStarted(old)) = &mut self.entries[at].event
        {
            old.tools.clear();
            if old.cli_session_id == new.cli_session_id {
                self.forget(at);
            }
        }
        let at = self.push(seq, lane, event);
        self.latest.insert(Latest::Started, at);
        self.commands_at(at);
    }

    fn commands_at(&mut self, at: usize) {
        let earlier = self.latest.insert(Latest::Commands, at);
        match earlier.and_then(|at| self.entries[at].event.as_mut()) {
            Some(UiMessage::SessionStarted(event)) => event.slash_commands.clear(),
            Some(UiMessage::SettingsChanged(event)) => event.slash_commands = None,
            _ => {}
        }
    }
}
