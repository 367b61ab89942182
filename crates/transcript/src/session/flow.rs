//! The course of a conversation: its turns, and the function of each entry.

use std::fmt;

use super::units::UnitId;
use super::{EntryRole, LaneId, NodeId, Session};

/// The course of a part of a conversation: the five flows of the session specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flow {
    /// A prompt and its answer.
    Linear,
    /// Tools are called, and the answer uses their results.
    ToolUse,
    /// A sub-agent does a part of the work and reports.
    Sidechain,
    /// A step failed, and another one was tried.
    ErrorRecovery,
    /// The conversation is replaced by a summary.
    Compaction,
}

impl Flow {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Flow::Linear => "linear",
            Flow::ToolUse => "tool-use",
            Flow::Sidechain => "sidechain",
            Flow::ErrorRecovery => "error-recovery",
            Flow::Compaction => "compaction",
        }
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The function of an entry in its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Step {
    /// A prompt.
    Prompt,
    /// An answer of the model.
    Answer,
    /// A tool call.
    Call,
    /// A tool result.
    Result,
    /// A call that starts a sub-agent.
    Delegate,
    /// The result of a sub-agent.
    Report,
    /// A call that fails.
    Attempt,
    /// An error.
    Failure,
    /// Another attempt of the model after a failure.
    Retry,
    /// A successful attempt after a failure.
    Recovery,
    /// A request for a compaction.
    Command,
    /// The conversation is compacted.
    Compact,
    /// The summary of the earlier conversation.
    Summary,
    /// Not part of the flow.
    Aside,
}

impl Step {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Step::Prompt => "prompt",
            Step::Answer => "answer",
            Step::Call => "call",
            Step::Result => "result",
            Step::Delegate => "delegate",
            Step::Report => "report",
            Step::Attempt => "attempt",
            Step::Failure => "failure",
            Step::Retry => "retry",
            Step::Recovery => "recovery",
            Step::Command => "command",
            Step::Compact => "compact",
            Step::Summary => "summary",
            Step::Aside => "aside",
        }
    }
}

/// A prompt and all entries up to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The prompt; `None` for the entries before the first.
    pub prompt: Option<NodeId>,
    /// All entries, the prompt included.
    pub nodes: Vec<NodeId>,
    /// The highest flow in it, in the order of [`Flow`].
    pub flow: Flow,
}

impl Session {
    /// The flow that an entry is a step of.
    pub fn flow(&self, id: NodeId) -> Flow {
        self.steps()[id.index()].0
    }

    /// The function of an entry in its flow.
    pub fn step(&self, id: NodeId) -> Step {
        self.steps()[id.index()].1
    }

    /// Splits a path at its prompts.
    pub fn turns(&self, path: &[NodeId]) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for id in path {
            let begins = self.node(*id).part.begins_turns();
            if begins || turns.is_empty() {
                turns.push(Turn { prompt: begins.then_some(*id), nodes: Vec::new(), flow: Flow::Linear });
            }
            if let Some(turn) = turns.last_mut() {
                turn.nodes.push(*id);
                turn.flow = turn.flow.max(self.flow(*id));
            }
        }
        turns
    }

    fn steps(&self) -> &[(Flow, Step)] {
        self.steps.get_or_init(|| {
            let mut steps = vec![(Flow::Linear, Step::Aside); self.nodes.len()];
            // The phase of the conversation after each unit.
            let mut after: Vec<Phase> = Vec::new();
            for unit in self.units.ids() {
                let mut phase = self.units.parent(unit).map_or(Phase::Asked, |parent| after[parent.index()]);
                for id in self.units.members(unit) {
                    steps[id.index()] = self.classify(*id, unit, &mut phase);
                }
                after.push(phase);
            }
            steps
        })
    }

    fn classify(&self, id: NodeId, unit: UnitId, phase: &mut Phase) -> (Flow, Step) {
        let node = self.node(id);
        let (flow, step, next) = match node.part {
            EntryRole::Command if node.asks_to_compact() => {
                (Flow::Compaction, Step::Command, Phase::Compacting)
            }
            EntryRole::Prompt | EntryRole::Command | EntryRole::Notification => {
                (Flow::Linear, Step::Prompt, Phase::Asked)
            }
            EntryRole::Compaction => (Flow::Compaction, Step::Compact, Phase::Compacting),
            EntryRole::CompactSummary => (Flow::Compaction, Step::Summary, Phase::Compacting),
            EntryRole::Error => (Flow::ErrorRecovery, Step::Failure, Phase::Failed),
            EntryRole::Response => self.response(id, unit, *phase),
            EntryRole::ToolResult if node.is_error() => (Flow::ErrorRecovery, Step::Failure, Phase::Failed),
            EntryRole::ToolResult if *phase == Phase::Retrying => {
                (Flow::ErrorRecovery, Step::Recovery, Phase::ToolsDone)
            }
            // One of several parallel results may have failed; the others do not make up for it.
            EntryRole::ToolResult if *phase == Phase::Failed => (Flow::ToolUse, Step::Result, Phase::Failed),
            EntryRole::ToolResult if *phase == Phase::Delegated => {
                (Flow::Sidechain, Step::Report, Phase::Delegated)
            }
            EntryRole::ToolResult => (Flow::ToolUse, Step::Result, Phase::ToolsDone),
            EntryRole::CommandOutput
            | EntryRole::Interruption
            | EntryRole::Injected
            | EntryRole::Event
            | EntryRole::Attachment
            | EntryRole::Progress
            | EntryRole::Other => (phase.flow(), Step::Aside, *phase),
        };
        *phase = next;
        // Inside a sub-agent everything is part of the delegation, except for failures and compactions.
        let inside = node.lane != LaneId::MAIN && matches!(flow, Flow::Linear | Flow::ToolUse);
        (if inside { Flow::Sidechain } else { flow }, step)
    }

    fn response(&self, id: NodeId, unit: UnitId, phase: Phase) -> (Flow, Step, Phase) {
        let node = self.node(id);
        if node.is_error() {
            return (Flow::ErrorRecovery, Step::Failure, Phase::Failed);
        }
        if node.calls_tools() {
            let retries = matches!(phase, Phase::Failed | Phase::Retrying);
            return if self.calls_of(id).any(|tool| tool.is_error) {
                (Flow::ErrorRecovery, if retries { Step::Retry } else { Step::Attempt }, phase)
            } else if retries {
                (Flow::ErrorRecovery, Step::Retry, Phase::Retrying)
            } else if node.delegates() {
                (Flow::Sidechain, Step::Delegate, Phase::Delegated)
            } else {
                (Flow::ToolUse, Step::Call, phase)
            };
        }
        match phase {
            Phase::Failed | Phase::Retrying => (Flow::ErrorRecovery, Step::Retry, Phase::Retrying),
            Phase::Asked if self.units.members(unit).iter().any(|id| self.node(*id).calls_tools()) => {
                (Flow::ToolUse, Step::Answer, phase)
            }
            // The acknowledgement of a compaction; the next prompt begins a new flow.
            phase => (phase.flow(), Step::Answer, phase),
        }
    }
}

/// Phase of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Asked,
    ToolsDone,
    Delegated,
    Failed,
    Retrying,
    Compacting,
}

impl Phase {
    fn flow(self) -> Flow {
        match self {
            Phase::Asked => Flow::Linear,
            Phase::ToolsDone => Flow::ToolUse,
            Phase::Delegated => Flow::Sidechain,
            Phase::Failed | Phase::Retrying => Flow::ErrorRecovery,
            Phase::Compacting => Flow::Compaction,
        }
    }
}
