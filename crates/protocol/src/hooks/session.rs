//! Events around sessions, turns and sub-agents.

use crate::json::{object, open_string};
use crate::messages::AssistantError;

open_string! {
    /// Reason why a session starts.
    pub struct SessionStartSource {
        STARTUP = "startup",
        RESUME = "resume",
        CLEAR = "clear",
        COMPACT = "compact",
        FORK = "fork",
    }

    /// Reason why a session ends.
    pub struct SessionEndReason {
        OTHER = "other",
        CLEAR = "clear",
        RESUME = "resume",
        LOGOUT = "logout",
        PROMPT_INPUT_EXIT = "prompt_input_exit",
    }

    /// Kind of setup that the CLI was started for.
    pub struct SetupTrigger {
        INIT = "init",
        MAINTENANCE = "maintenance",
    }
}

object! {
    /// A session starts.
    ///
    /// Hooks of a host receive it only after a compaction or `/clear`.
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

    /// The CLI was started for setup.
    pub struct Setup {
        opt trigger: SetupTrigger,
    }

    /// The turn is about to end.
    pub struct Stop {
        /// True if the turn continues only because of a hook.
        def stop_hook_active: bool,
        opt last_assistant_message: String,
        def background_tasks: Vec<BackgroundTaskSummary>,
        def session_crons: Vec<SessionCronSummary>,
    }

    /// The turn ended with an API error.
    pub struct StopFailure {
        opt error: AssistantError,
        opt error_details: String,
        opt last_assistant_message: String,
    }

    /// A sub-agent starts. The base has its id.
    pub struct SubagentStart {}

    /// A sub-agent is about to end. The base has its id.
    pub struct SubagentStop {
        /// True if the sub-agent continues only because of a hook.
        def stop_hook_active: bool,
        opt agent_transcript_path: String,
        opt last_assistant_message: String,
        def background_tasks: Vec<BackgroundTaskSummary>,
        def session_crons: Vec<SessionCronSummary>,
    }

    /// A running background task. Long texts are cut, with a note of how much is missing.
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

    /// A scheduled prompt of the session.
    pub struct SessionCronSummary {
        req id: String,
        opt schedule: String,
        opt recurring: bool,
        opt prompt: String,
    }
}
