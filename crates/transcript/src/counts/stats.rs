use tidings_protocol::api::TranscriptStats;

use super::Counts;
use crate::list::Listed;

/// Figures about sessions, from their list and the sum of their counts.
pub fn stats<'a>(rows: impl Iterator<Item = &'a Listed>, sum: &Counts) -> TranscriptStats {
    let (sessions, subagents) = rows.fold((0, 0), |(count, agents), row| (count + 1, agents + row.subagents));
    TranscriptStats {
        sessions,
        messages: sum.messages,
        turns: sum.turns,
        tool_calls: sum.tool_calls(),
        tools: sum.tools.clone(),
        errors: sum.errors,
        subagents,
        branches: sum.branches,
        compactions: sum.compactions,
        damaged: sum.damaged,
        first: sum.first.map(|time| format!("{time:.3}")),
        last: sum.last.map(|time| format!("{time:.3}")),
    }
}
