//! Rule: the sub-agent that a result names has a file and a sidecar.

use super::super::context::Findings;
use super::super::session::AgentCall;
use crate::roots::SessionFiles;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("missing-agent-file");
const SIDECAR: Rule = Rule::new("missing-sidecar");

/// The sub-agent that a result names has a file, and a sidecar beside it.
pub(crate) fn check(call: &AgentCall, files: &SessionFiles, found: &mut Findings) {
    let agent = files.agents.iter().find(|agent| agent.agent_id == *call.agent_id);
    let (rule, severity, message) = match agent {
        Some(agent) if agent.sidecar.is_some() => return,
        // Older versions did not write sidecars.
        Some(_) => (
            SIDECAR,
            Severity::Note,
            format!("The sub-agent `{}` has no `.meta.json` beside its file", call.agent_id),
        ),
        None => {
            // A file that was copied without its folder lacks nothing of its own.
            let severity = if files.dir().is_dir() { Severity::Warning } else { Severity::Note };
            (RULE, severity, format!("The file of the sub-agent `{}` is missing", call.agent_id))
        }
    };
    found.add(rule, severity, call.place, call.uuid.as_deref(), message);
}
