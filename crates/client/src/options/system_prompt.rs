//! The system prompt.

use std::path::PathBuf;

use super::{Options, Plan};
use crate::error::Error;

/// The system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemPrompt {
    /// A custom prompt, in one block or several; the default is an empty one.
    Custom {
        /// The blocks. [`SystemPrompt::BOUNDARY`] as a separate block ends the cached part.
        blocks: Vec<String>,
        /// Records the prompt once per conversation; `None` for the CLI's default.
        snapshot: Option<bool>,
    },
    /// The prompt of Claude Code.
    Preset {
        /// Text that is appended to it.
        append: Option<String>,
        /// Moves machine-specific sections out of the prompt, so that more of it is cached; `None` for the
        /// CLI's default.
        exclude_dynamic_sections: Option<bool>,
        /// Records the prompt once per conversation; `None` for the CLI's default.
        snapshot: Option<bool>,
    },
    /// A prompt in a file.
    File(PathBuf),
}

impl SystemPrompt {
    /// The block that ends the cached part.
    pub const BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

    /// A custom prompt.
    pub fn custom(text: impl Into<String>) -> Self {
        SystemPrompt::Custom { blocks: vec![text.into()], snapshot: None }
    }

    /// The unchanged prompt of Claude Code.
    pub fn preset() -> Self {
        SystemPrompt::Preset { append: None, exclude_dynamic_sections: None, snapshot: None }
    }

    /// The prompt of Claude Code with an appended text.
    pub fn append(text: impl Into<String>) -> Self {
        SystemPrompt::Preset { append: Some(text.into()), exclude_dynamic_sections: None, snapshot: None }
    }
}

impl Default for SystemPrompt {
    fn default() -> Self {
        SystemPrompt::custom("")
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        SystemPrompt::custom(text)
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        SystemPrompt::custom(text)
    }
}

impl Options {
    /// Sets the system prompt. It is sent in the handshake, so its length is not limited.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.system_prompt = prompt.into();
        self
    }
}

impl SystemPrompt {
    pub(super) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        match self {
            SystemPrompt::Custom { blocks, snapshot } => {
                if blocks.is_empty() {
                    return Err(Error::invalid(
                        "The system prompt has no blocks",
                        "use an empty text for an empty prompt",
                    ));
                }
                plan.initialize.system_prompt = Some(blocks.clone());
                plan.initialize.system_prompt_snapshot = *snapshot;
            }
            SystemPrompt::Preset { append, exclude_dynamic_sections, snapshot } => {
                plan.initialize.append_system_prompt.clone_from(append);
                plan.initialize.exclude_dynamic_sections = *exclude_dynamic_sections;
                plan.initialize.system_prompt_snapshot = *snapshot;
            }
            SystemPrompt::File(path) => plan.path("system-prompt-file", path),
        }
        Ok(())
    }
}
