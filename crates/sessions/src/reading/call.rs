//! One tool call in full, for clients that got it shortened.

use tidings_agent::UiMessage;
use tidings_api::{Code, WholeCall};
use tidings_journal::Max;
use tidings_journal::snapshot::belongs_to_call;

use crate::limits::{CALL_BYTES_MAX, CALL_EVENTS_MAX};
use crate::reading::persisted_output;
use crate::running::frames::FRAME;
use crate::{Caller, Error, Sessions};

impl Sessions {
    /// Returns the input and output of a call, with the part of the output that is in a file of its own.
    pub async fn call(
        &self,
        caller: &Caller,
        name: &str,
        tool_use_id: &str,
        before: Option<u64>,
    ) -> Result<WholeCall, Error> {
        let mut call = self.stored_call(name, tool_use_id, before).await?;
        if !persisted_output::is_in(&call.events) {
            return Ok(call);
        }
        let (files, caller) = (self.session_files(name).await?, caller.clone());
        let complete = move || {
            persisted_output::complete(&mut call.events, &files.find(&caller));
            call
        };
        let lost = |_| Error::new(Code::Internal, "Failed to read the output of a call", "");
        tokio::task::spawn_blocking(complete).await.map_err(lost)
    }

    /// Returns the events of a call. The search goes back from the newest event, or from `before`,
    /// page by page, up to a limit, since a session can be as long as its disk.
    async fn stored_call(
        &self,
        name: &str,
        tool_use_id: &str,
        mut before: Option<u64>,
    ) -> Result<WholeCall, Error> {
        let key = self.row(name).await?.key;
        let mut found = Vec::new();
        let (mut events, mut bytes) = (0, 0);
        while events < CALL_EVENTS_MAX && bytes < CALL_BYTES_MAX {
            let page = self.broadcast().journal().history(&key, before, Max::default()).await?;
            for event in page.events.iter().rev().filter(|event| event.kind.as_str() != FRAME) {
                let text = std::str::from_utf8(&event.body).unwrap_or_default();
                // Parsing JSON takes longer than a search for the id, which few events contain.
                if !text.contains(tool_use_id) {
                    continue;
                }
                let Ok(message) = serde_json::from_str::<UiMessage>(text) else { continue };
                if belongs_to_call(&message, tool_use_id) {
                    let is_first = begins(&message);
                    found.push(message);
                    if is_first {
                        return Ok(whole(tool_use_id, found));
                    }
                }
            }
            events += page.events.len();
            bytes += page.events.iter().map(|event| event.body.len()).sum::<usize>();
            before = page.events.first().map(|event| event.cursor.seq).filter(|first| *first > page.floor);
            if before.is_none() {
                break;
            }
        }
        match (found.is_empty(), before) {
            // The beginning of the call was removed, or is too far back.
            (false, _) => Ok(whole(tool_use_id, found)),
            (true, None) => {
                let message = format!("The session has no call `{tool_use_id}`");
                Err(Error::new(Code::NotFound, message, "its events may have been removed since"))
            }
            (true, Some(before)) => {
                let message = format!(
                    "None of the {events} events that were searched has the tool call `{tool_use_id}`"
                );
                let hint = format!("search further back with `before={before}`");
                Err(Error::new(Code::NotFound, message, hint))
            }
        }
    }
}

/// True if no earlier event belongs to the call.
fn begins(event: &UiMessage) -> bool {
    let event = match event {
        UiMessage::Lane(lane) => &lane.event,
        event => event,
    };
    matches!(event, UiMessage::ToolExecuting { .. })
}

fn whole(tool_use_id: &str, mut newest_first: Vec<UiMessage>) -> WholeCall {
    newest_first.reverse();
    WholeCall { tool_use_id: tool_use_id.to_owned(), events: newest_first }
}
