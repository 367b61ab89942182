//! Reading of a tool's output by the name of the tool.

use super::{ToolOutput, canonical_name};
use crate::json::{Misfit, Raw, Reading};

impl ToolOutput {
    /// Reads the output of the tool called `name`.
    pub fn read(name: &str, output: Raw<'_>) -> Result<Self, Misfit> {
        Self::read_with(name, output, &mut Reading::default())
    }

    /// Same as [`ToolOutput::read`], and records the optional fields that did not fit in `reading`.
    pub fn read_with(name: &str, output: Raw<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if let Some(text) = output.text() {
            return Ok(ToolOutput::Text(text.get().into_owned()));
        }
        // Two lists contain servers' resources and tools, not content blocks.
        if output.is_array() && !matches!(canonical_name(name), "ListMcpResourcesTool" | "RefreshMcpTools") {
            return Ok(ToolOutput::Blocks(output.to_json()));
        }
        Self::typed(name, output, reading).unwrap_or_else(|| Ok(ToolOutput::Other(output.to_json())))
    }
}
