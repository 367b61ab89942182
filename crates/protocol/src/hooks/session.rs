//! Events around sessions, turns and subagents.

use crate::json::{object, open_string};
use crate::messages::AssistantError;

open_string! {
    /// Why a session begins.
    pub struct SessionStartSource {
        STARTUP = "startup",
        RESUME = "resume",
        CLEAR = "clear",
        COMPACT = "compact",
        FORK = "fork",
    }

    /// Why a session ends.
    pub struct SessionEndReason {
        OTHER = "other",
        CLEAR = "clear",
        RESUME = "resume",
        LOGOUT = "logout",
        PROMPT_INPUT_EXIT = "prompt_input_exit",
    }

    /// What the CLI was started to set up.
    pub struct SetupTrigger {
        INIT = "init",
        MAINTENANCE = "maintenance",
    }
}

object! {
    /// A session begins.
    ///
    /// Hooks of a host hear of it only after a compaction or `/clear`.
    pub struct SessionStart {
        opt source: SessionStartSource,
        opt model: String,
        opt session_title: String,
        opt seconds_since_last_response: f64,
        opt context_tokens: u64,
        opt prompt_cache_likely_expired: bool,
        opt estimated_cache_write_usd: f64,
    }

    /// A session ends.
    pub struct SessionEnd {
        opt reason: SessionEndReason,
    }

    /// The CLI was started to set something up.
    pub struct Setup {
        opt trigger: SetupTrigger,
    }

    /// The turn is about to end.
    pub struct Stop {
        /// Whether the turn goes on only because a hook made it.
        def stop_hook_active: bool,
        opt last_assistant_message: String,
        def background_tasks: Vec<BackgroundTaskSummary>,
        def session_crons: Vec<SessionCronSummary>,
    }

    /// The turn ended with an error of the API.
    pub struct StopFailure {
        opt error: AssistantError,
        opt error_details: String,
        opt last_assistant_message: String,
    }

    /// A subagent begins. Which one stands in the base.
    pub struct SubagentStart {}

    /// A subagent is about to end. Which one stands in the base.
    pub struct SubagentStop {
        /// Whether the subagent goes on only because a hook made it.
        def stop_hook_active: bool,
        opt agent_transcript_path: String,
        opt last_assistant_message: String,
        def background_tasks: Vec<BackgroundTaskSummary>,
        def session_crons: Vec<SessionCronSummary>,
    }

    /// A task that still runs. Long texts are cut and say by how much.
    pub struct BackgroundTaskSummary {
        req id: String,
        opt kind: String as "type",
        opt status: String,
        opt description: String,
        opt command: String,
        opt agent_type: String,
        opt server: String,
        opt tool: String,
        opt name: String,
    }

    /// Something that will be done later.
    pub struct SessionCronSummary {
        req id: String,
        opt schedule: String,
        opt recurring: bool,
        opt prompt: String,
    }
}
