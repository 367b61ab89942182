//! The check of tool calls that the CLI requests in auto mode.

use tidings_protocol::json::Raw;

use super::blocks::Rendered;
use super::json::Object;
use crate::script::Block;

/// The check that the CLI requests in auto mode.
const DANGEROUS_TOOL_USE: &str = "dangerous_tool_use";

/// True if the request asks the API to check tool calls.
pub(super) fn are_requested(body: Raw<'_>) -> bool {
    let list = body.get("safeguards").filter(|list| list.is_array());
    let mut kinds = list.into_iter().flat_map(Raw::items).filter_map(|item| item.get("type")?.text());
    kinds.any(|kind| kind.get() == DANGEROUS_TOOL_USE)
}

/// The value of `safeguard_results`, as JSON: an outcome for every tool call of the message.
pub(super) fn results(blocks: &[(Block, Rendered)]) -> String {
    let outcomes = blocks.iter().filter_map(|(block, rendered)| {
        let id = rendered.call_id.as_deref()?;
        let outcome = Object::typed("evaluated");
        Some((
            id,
            match &block.flagged {
                Some(explanation) => outcome.with("outcome", "flagged").with("explanation", explanation),
                None => outcome.with("outcome", "not_flagged"),
            },
        ))
    });
    let calls = outcomes.fold(Object::default(), |calls, (id, outcome)| calls.with_object(id, outcome));
    let status = Object::typed("available").with_object("tool_uses", calls);
    format!("[{}]", Object::typed(DANGEROUS_TOOL_USE).with_object("status", status))
}
