//! Results of missing tool calls. The API rejects them, so they become text with an explanation.

use std::borrow::Cow;

use tidings_protocol::entry::EntryRef;
use tidings_protocol::json::{Raw, Text, write_string};

use super::plan::RepairPlan;
use super::survey::Survey;
use crate::Rule;
use crate::check::links::Links;
use crate::check::pairing::ResultRef;

const RULE: Rule = Rule::new("tool-call-missing");

/// Plans to turn results without calls into text. A result in the flat dialect names no call and is left
/// alone.
pub(super) fn into_text(answers: Vec<ResultRef>, links: &Links, survey: &Survey, plan: &mut RepairPlan) {
    for ResultRef { link, id } in answers {
        let Some(id) = id.filter(|id| !survey.hidden.called.contains(id.as_bytes())) else { continue };
        let sentence = format!("Turned the result of a missing tool call into text: `{id}`");
        plan.treat(links.list[link].place).because(RULE, sentence).edit.lost_calls.push(id);
    }
}

/// The results in an entry with the ids of their calls.
pub(super) fn results<'a>(entry: &EntryRef<'a>) -> Vec<(Cow<'a, str>, Raw<'a>)> {
    let content = entry.get("message").and_then(|message| message.get("content"));
    let blocks = content.into_iter().flat_map(Raw::items).filter(|block| is(*block, "tool_result"));
    blocks.map(|block| (text_of(block, "tool_use_id"), block)).collect()
}

/// Text blocks, separated by commas, with the contents of a result. Images and the like stay blocks.
pub(super) fn as_text(result: Raw<'_>) -> String {
    let id = text_of(result, "tool_use_id");
    let failed = match result.get("is_error").and_then(Raw::bool) {
        Some(true) => "failed",
        _ => "gave this",
    };
    let mut head = format!("The call `{id}` of a tool was lost from the session file. The tool {failed}:");
    let content = result.get("content").filter(|content| !content.is_null());
    let mut blocks = Vec::new();
    match content {
        Some(content) if content.is_array() => {
            blocks.extend(content.items().map(|block| {
                let stays = ["text", "image", "document"].iter().any(|name| is(block, name));
                if stays { block.as_str().to_owned() } else { text_block(block.as_str()) }
            }));
        }
        Some(content) => {
            head.push_str("\n\n");
            match content.text() {
                Some(text) => text.push_to(&mut head),
                None => head.push_str(content.as_str()),
            }
        }
        None => {}
    }
    blocks.insert(0, text_block(&head));
    blocks.join(",")
}

fn is(block: Raw<'_>, name: &str) -> bool {
    block.get("type").and_then(Raw::text).is_some_and(|kind| kind == name)
}

fn text_of<'a>(block: Raw<'a>, key: &str) -> Cow<'a, str> {
    block.get(key).and_then(Raw::text).map(Text::get).unwrap_or_default()
}

fn text_block(text: &str) -> String {
    let mut block = r#"{"type":"text","text":"#.to_owned();
    write_string(text, &mut block);
    block.push('}');
    block
}
