//! What the model is told before everything else.

use std::path::PathBuf;

use super::{Options, Plan};
use crate::error::Error;

/// The system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemPrompt {
    /// A prompt of your own, in one block or several; an empty one unless something else is set.
    Custom {
        /// The blocks. [`SystemPrompt::BOUNDARY`] as a block of its own ends the part that is cached.
        blocks: Vec<String>,
        /// Whether the prompt is recorded once per conversation; what the CLI does by itself when absent.
        snapshot: Option<bool>,
    },
    /// The prompt of Claude Code.
    Preset {
        /// What is added to it.
        append: Option<String>,
        /// Whether what changes from machine to machine is moved out of it, so that more of it is cached.
        exclude_dynamic_sections: Option<bool>,
        /// Whether the prompt is recorded once per conversation; what the CLI does by itself when absent.
        snapshot: Option<bool>,
    },
    /// A prompt in a file.
    File(PathBuf),
}

impl SystemPrompt {
    /// The block that ends the part that is cached.
    pub const BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

    /// A prompt of your own.
    pub fn custom(text: impl Into<String>) -> Self {
        SystemPrompt::Custom { blocks: vec![text.into()], snapshot: None }
    }

    /// The prompt of Claude Code as it is.
    pub fn preset() -> Self {
        SystemPrompt::Preset { append: None, exclude_dynamic_sections: None, snapshot: None }
    }

    /// The prompt of Claude Code and more.
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
    /// The system prompt. It goes by the handshake, so it may be as long as it likes.
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
                        "give an empty text for an empty one",
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
