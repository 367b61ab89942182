//! Inputs that people changed before calls ran. The files of the CLI have the inputs that the model asked
//! for; the journal has the answers that changed them.

use std::collections::HashMap;

use tidings_agent::UiMessage;
use tidings_journal::Journal;
use tidings_protocol::ui::PermissionResolved;

use crate::Error;

/// The answers that changed inputs, by the ids of the calls.
#[derive(Debug, Default)]
pub struct ChangedInputs(HashMap<String, PermissionResolved>);

impl ChangedInputs {
    /// Reads those of a session of the CLI.
    pub async fn read(journal: &dyn Journal, cli_session: &str) -> Result<Self, Error> {
        let answers = journal.changed_inputs(Some(cli_session)).await?;
        Ok(ChangedInputs(answers.into_iter().map(|answer| (answer.tool_use_id.clone(), answer)).collect()))
    }

    /// The event that follows the event of a call from a file: the answer that changed its input.
    pub(crate) fn after(&self, event: &UiMessage, handle: i64) -> Option<UiMessage> {
        let event = match event {
            UiMessage::Lane(lane) => &lane.event,
            event => event,
        };
        let UiMessage::ToolExecuting { tool_use_id, .. } = event else { return None };
        let mut answer = self.0.get(tool_use_id)?.clone();
        answer.session_id = handle;
        answer.batch_id = None;
        Some(answer.into())
    }

    /// Adds the answers to events of calls from a file.
    pub fn insert(&self, events: Vec<UiMessage>, handle: i64) -> Vec<UiMessage> {
        let with_answer = |event: UiMessage| {
            let answer = self.after(&event, handle);
            std::iter::once(event).chain(answer)
        };
        events.into_iter().flat_map(with_answer).collect()
    }
}
