//! Reason why a turn stopped.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Reason why generation stopped.
///
/// Written in this wire's spelling (`EndTurn`); the spelling of the Messages API (`end_turn`) is read as
/// well.
/// An unknown reason is kept unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished.
    EndTurn,
    /// The answer reached the token limit.
    MaxTokens,
    /// The model wrote a stop sequence.
    StopSequence,
    /// The model called a tool.
    ToolUse,
    /// Any other reason, unchanged.
    #[cfg_attr(feature = "schema", schemars(untagged))]
    #[cfg_attr(feature = "typescript", ts(untagged, type = "(string & {})"))]
    Other(String),
}

impl StopReason {
    /// The reason in the spelling of this wire.
    ///
    /// ```
    /// use tidings_protocol::ui::StopReason;
    ///
    /// assert_eq!(StopReason::from("end_turn").as_str(), "EndTurn");
    /// assert_eq!(StopReason::from("refusal").as_str(), "refusal");
    /// ```
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "EndTurn",
            Self::MaxTokens => "MaxTokens",
            Self::StopSequence => "StopSequence",
            Self::ToolUse => "ToolUse",
            Self::Other(text) => text,
        }
    }

    fn known(text: &str) -> Option<Self> {
        match text {
            "EndTurn" | "end_turn" => Some(Self::EndTurn),
            "MaxTokens" | "max_tokens" => Some(Self::MaxTokens),
            "StopSequence" | "stop_sequence" => Some(Self::StopSequence),
            "ToolUse" | "tool_use" => Some(Self::ToolUse),
            _ => None,
        }
    }
}

impl From<&str> for StopReason {
    fn from(text: &str) -> Self {
        Self::known(text).unwrap_or_else(|| Self::Other(text.to_owned()))
    }
}

impl From<String> for StopReason {
    fn from(text: String) -> Self {
        Self::known(&text).unwrap_or(Self::Other(text))
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for StopReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
