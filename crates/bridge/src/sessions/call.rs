//! One call of a tool in full, for those who were shown less of it.

use tidings_agent::UiMessage;
use tidings_protocol::api::WholeCall;

use super::Sessions;
use super::frames::FRAME;
use crate::error::{Code, Error};
use crate::journal::Max;
use crate::limits::{CALL_BYTES_MAX, CALL_EVENTS_MAX};
use crate::snapshot::tells_of;

impl Sessions {
    /// What a call took and gave. It is looked for from the newest event on, or from those before a place, page by page: not for ever,
    /// since a session can be as long as its disk.
    pub async fn call(
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
                // Reading JSON takes longer than a look for the id, which few events have.
                if !text.contains(tool_use_id) {
                    continue;
                }
                let Ok(message) = serde_json::from_str::<UiMessage>(text) else { continue };
                if tells_of(&message, tool_use_id) {
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
            // How it began was removed, or is too far back.
            (false, _) => Ok(whole(tool_use_id, found)),
            (true, None) => {
                let message = format!("The session has no call `{tool_use_id}`");
                Err(Error::new(Code::NotFound, message, "its events may have been removed since"))
            }
            (true, Some(before)) => {
                let message =
                    format!("None of the {events} events that were looked at has the call `{tool_use_id}`");
                let hint = format!("look further back with `before={before}`");
                Err(Error::new(Code::NotFound, message, hint))
            }
        }
    }
}

/// Whether nothing of the call comes before this.
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
