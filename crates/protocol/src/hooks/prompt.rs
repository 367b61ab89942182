//! Events around prompts and displayed messages.

use crate::json::{object, open_string};

open_string! {
    /// Origin of a prompt.
    pub struct PromptSource {
        USER = "user",
        SDK = "sdk",
        SYSTEM = "system",
        LOOP_WAKEUP = "loop_wakeup",
        SCHEDULE_WAKEUP = "schedule_wakeup",
        POLL_EVENT = "poll_event",
    }

    /// Origin of an expanded prompt.
    pub struct ExpansionType {
        SLASH_COMMAND = "slash_command",
        MCP_PROMPT = "mcp_prompt",
    }
}

object! {
    /// A notification for the user.
    pub struct Notification {
        def message: String,
        opt title: String,
        opt notification_type: String,
    }

    /// A prompt was sent.
    pub struct UserPromptSubmit {
        req prompt: String,
        opt source: PromptSource,
        opt session_title: String,
    }

    /// A command was expanded into a prompt.
    pub struct UserPromptExpansion {
        opt expansion_type: ExpansionType,
        req command_name: String,
        def command_args: String,
        opt command_source: String,
        def prompt: String,
    }

    /// A delta of a message is about to be shown.
    pub struct MessageDisplay {
        opt turn_id: String,
        opt message_id: String,
        opt index: u64,
        /// True for the last delta.
        def is_final: bool as "final",
        def delta: String,
    }
}
