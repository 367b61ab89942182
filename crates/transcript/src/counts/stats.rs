//! Figures about sessions, from their counts.

use tidings_protocol::sums::TranscriptStats;

use super::Counts;

/// Figures about sessions, from the number of sub-agents of each and the sum of their counts.
pub fn stats(subagents: impl Iterator<Item = u64>, sum: &Counts) -> TranscriptStats {
    let (sessions, subagents) = subagents.fold((0, 0), |(count, agents), own| (count + 1, agents + own));
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
