//! Rule: a tool call of the session started the sub-agent.

use tidings_protocol::json::Raw;

use super::super::context::Findings;
use super::super::session::SessionFacts;
use crate::limits::SIDECAR_BYTES_MAX;
use crate::roots::AgentFile;
use crate::{Position, Rule, Severity};

const RULE: Rule = Rule::new("unstarted-agent");

/// A tool call in one of the session's files started the sub-agent. Side questions and the like have no such
/// call.
pub(crate) fn check(agent: &AgentFile, facts: &SessionFacts, found: &mut Findings) {
    if facts.agent_calls.iter().any(|call| *call.agent_id == agent.agent_id) {
        return;
    }
    if started_by(agent).is_some_and(|call| facts.call_ids.contains(call.as_str())) {
        return;
    }
    let place = Position { line: 1, offset: 0, bytes: 0 };
    let message = format!("No tool call of the session started the sub-agent `{}`", agent.agent_id);
    found.add(RULE, Severity::Note, place, None, message);
}

/// The id of the call that the sidecar names.
fn started_by(agent: &AgentFile) -> Option<String> {
    let path = agent.sidecar.as_deref()?;
    if fs_err::metadata(path).ok()?.len() > SIDECAR_BYTES_MAX {
        return None;
    }
    let text = fs_err::read_to_string(path).ok()?;
    let call = Raw::parse(&text).ok()?.get("toolUseId")?.text()?.get().into_owned();
    Some(call)
}
