//! One call of a tool in full, for those who were shown less of it.

use tidings_agent::UiMessage;
use tidings_protocol::api::WholeCall;

use super::Sessions;
use super::frames::FRAME;
use crate::compact::tells_of;
use crate::error::{Code, Error};
use crate::journal::Max;

impl Sessions {
    /// What a call took and gave. It is looked for from the newest event on, page by page, as far as events are kept.
    pub async fn call(&self, name: &str, tool_use_id: &str) -> Result<WholeCall, Error> {
        let key = self.row(name).await?.key;
        let mut found = Vec::new();
        let mut before = None;
        loop {
            let page = self.hub().journal().history(&key, before, Max::default()).await?;
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
            before = page.events.first().map(|event| event.cursor.seq);
            if before.is_none_or(|before| before <= page.floor) {
                break;
            }
        }
        if found.is_empty() {
            let message = format!("The session has no call `{tool_use_id}`");
            return Err(Error::new(Code::NotFound, message, "its events may have been removed since"));
        }
        // How it began was removed.
        Ok(whole(tool_use_id, found))
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
