//! Reading of a tool's input by the name of the tool.

use super::{ToolInput, summary};
use crate::json::{Misfit, Raw, Reading};

impl ToolInput {
    /// Reads the input of the tool called `name`.
    ///
    /// Models make mistakes, so an input may lack required fields: the CLI refuses such a call, and this
    /// function returns the [`Misfit`].
    pub fn read(name: &str, input: Raw<'_>) -> Result<Self, Misfit> {
        Self::read_with(name, input, &mut Reading::default())
    }

    /// Same as [`ToolInput::read`], and records the optional fields that did not fit in `reading`.
    pub fn read_with(name: &str, input: Raw<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        Self::typed(name, input, reading).unwrap_or_else(|| Ok(ToolInput::Other(input.to_json())))
    }

    /// One-line summary of the call: the command, the path, the question.
    ///
    /// It has no control characters and at most [`SUMMARY_CHARS_MAX`](super::SUMMARY_CHARS_MAX) characters.
    pub fn summary(&self) -> String {
        summary::of(self)
    }
}
