//! Rule: every tool call has a result, and every result a call.

use super::super::context::{Check, CheckedEntry, File, Findings, MissingItem};
use super::super::pairing::{EntryTools, Pairing};
use crate::{Rule, Severity};

const LOST_RESULT: Rule = Rule::new("tool-result-missing");
const LOST_CALL: Rule = Rule::new("tool-call-missing");

/// Every tool call has a result, and every result a call.
///
/// The API rejects a conversation with half a pair; the session specification does not require pairs.
///
/// Both directions are one rule because they are results of one search for unpaired calls and results.
#[derive(Debug, Default)]
pub(super) struct ToolPairs {
    pairing: Pairing,
}

impl Check for ToolPairs {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, _: &mut Findings) {
        if let Some(number) = seen.link
            && !seen.is_copy(file.links)
        {
            self.pairing.add(EntryTools::of(&seen.entry), number, file.links);
        }
    }

    fn finish(&mut self, file: &File<'_>, found: &mut Findings) {
        let links = file.links;
        let unpaired = std::mem::take(&mut self.pairing).finish(links);
        // Files of side questions repeat calls of the main file, and the results stay there.
        let is_own = |id: &str| !file.session.call_ids.contains(id);
        for call in unpaired.lost_results.into_iter().filter(|call| is_own(&call.id)) {
            let link = &links.list[call.link];
            let message = format!(
                "The result of the {} call `{}` is missing, although the model continued",
                call.tool, call.id
            );
            let severity = if call.is_api { Severity::Error } else { Severity::Warning };
            let uuid = links.names.text(link.uuid);
            found.add_pending(
                MissingItem::Result(call.id),
                LOST_RESULT,
                severity,
                link.place,
                &uuid,
                message,
            );
        }
        for call in unpaired.waiting.into_iter().filter(|call| is_own(&call.id)) {
            let link = &links.list[call.link];
            let message = format!("The {} call `{}` has no result yet", call.tool, call.id);
            let (missing, uuid) = (MissingItem::Result(call.id), links.names.text(link.uuid));
            found.add_pending(missing, LOST_RESULT, Severity::Note, link.place, &uuid, message);
        }
        for answer in unpaired.lost_calls {
            let link = &links.list[answer.link];
            let uuid = links.names.text(link.uuid);
            if let Some(id) = answer.id {
                let message = format!("The tool call that this result answers is missing: `{id}`");
                let missing = MissingItem::Call(id);
                found.add_pending(missing, LOST_CALL, Severity::Error, link.place, &uuid, message);
            } else {
                let message = "No tool call comes before this result";
                found.add(LOST_CALL, Severity::Warning, link.place, Some(&uuid), message);
            }
        }
    }
}
