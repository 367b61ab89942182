use std::fmt;

use super::NodeId;

/// How a stretch of conversation goes: the five flows that seed 001 describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flow {
    /// A prompt and its answer.
    Linear,
    /// Tools are called, and the answer builds on what they gave.
    ToolUse,
    /// A sub-agent does a part of the work and reports.
    Sidechain,
    /// Something failed, and another way was tried.
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

/// A prompt and everything up to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The prompt; `None` for what stands before the first.
    pub prompt: Option<NodeId>,
    /// All entries, the prompt included.
    pub nodes: Vec<NodeId>,
    /// The most eventful flow in it.
    pub flow: Flow,
}
