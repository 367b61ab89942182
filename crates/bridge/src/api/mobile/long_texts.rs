//! Long texts for phones: a message holds a bounded part of a text, and a text has a bounded number of
//! messages. So a phone that never reads costs little, however long an event is.

use std::collections::BTreeMap;

use serde_json::Value;
use tidings_protocol::mobile::{ClaudeResponse, MobileBody, MobileMessage};

use crate::limits::{MOBILE_TEXT_BYTES, MOBILE_TEXT_BYTES_MAX};

/// Splits and cuts the texts of a message.
pub(super) fn bound(message: MobileMessage, out: &mut Vec<MobileMessage>) {
    match message.body {
        MobileBody::ClaudeResponse(response) if response.content.len() > MOBILE_TEXT_BYTES => {
            out.extend(split(&response).into_iter().map(MobileMessage::new));
        }
        MobileBody::PermissionRequest(mut request) => {
            for value in request.details.values_mut() {
                if let Value::String(text) = value
                    && text.len() > MOBILE_TEXT_BYTES
                {
                    let (kept, rest) = text.split_at(boundary(text, MOBILE_TEXT_BYTES));
                    *value = Value::String(format!("{kept}{}", note(rest.len())));
                }
            }
            out.push(MobileMessage { body: MobileBody::PermissionRequest(request), ..message });
        }
        _ => out.push(message),
    }
}

/// The parts of a long text, all but the last of them partial.
fn split(response: &ClaudeResponse) -> Vec<ClaudeResponse> {
    let (mut text, rest) = response.content.split_at(boundary(&response.content, MOBILE_TEXT_BYTES_MAX));
    let mut parts = Vec::new();
    while !text.is_empty() {
        let (part, after) = text.split_at(boundary(text, MOBILE_TEXT_BYTES));
        text = after;
        let mut content = part.to_owned();
        let is_last = text.is_empty();
        if is_last && !rest.is_empty() {
            content.push_str(&note(rest.len()));
        }
        parts.push(ClaudeResponse {
            content,
            is_partial: response.is_partial || !is_last,
            conversation_id: response.conversation_id.clone(),
            metadata: if is_last { response.metadata.clone() } else { BTreeMap::new() },
        });
    }
    parts
}

/// A sentence about the part that is left out.
fn note(bytes: usize) -> String {
    format!("\n[{bytes} more bytes are shown on the page]")
}

/// The largest position up to `max` that does not cut a character.
fn boundary(text: &str, max: usize) -> usize {
    (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, is_partial: bool) -> Vec<(String, bool)> {
        let response = ClaudeResponse {
            content: text.to_owned(),
            is_partial,
            conversation_id: None,
            metadata: [("model".to_owned(), "m".to_owned())].into(),
        };
        let mut out = Vec::new();
        bound(MobileMessage::new(response), &mut out);
        let part = |message: MobileMessage| match message.body {
            MobileBody::ClaudeResponse(response) => (response.content, response.is_partial),
            other => panic!("{other:?}"),
        };
        out.into_iter().map(part).collect()
    }

    #[test]
    fn k6_a_text_for_a_phone_comes_in_parts_and_loses_nothing_up_to_a_limit() {
        assert_eq!(parts("short", false), [("short".to_owned(), false)]);
        let long = "é".repeat(MOBILE_TEXT_BYTES);
        let split = parts(&long, false);
        assert_eq!(split.iter().map(|(text, _)| text.as_str()).collect::<String>(), long);
        assert_eq!(split.iter().map(|(_, is_partial)| *is_partial).collect::<Vec<_>>(), [true, false]);
        assert!(parts(&long, true).iter().all(|(_, is_partial)| *is_partial), "more follows");

        let endless = parts(&"x".repeat(16 << 20), false);
        let bytes: usize = endless.iter().map(|(text, _)| text.len()).sum();
        assert!(bytes < MOBILE_TEXT_BYTES_MAX + 100, "{bytes}");
        let left_out = (16 << 20) - MOBILE_TEXT_BYTES_MAX;
        let last = &endless.last().unwrap().0;
        assert!(last.ends_with(&format!("[{left_out} more bytes are shown on the page]")), "it says so");
    }
}
