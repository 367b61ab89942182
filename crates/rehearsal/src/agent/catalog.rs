//! Tools, commands, models and agents of the stand-in. // tidy: flat table

use serde_json::{Value, json};

/// The tools of `system/init`.
pub(super) const TOOLS: &[&str] = &[
    "Task",
    "AskUserQuestion",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "ListAgents",
    "Monitor",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "TaskStop",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

/// Commands that a host may offer, with description and arguments.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("clear", "Start with an empty conversation", "[name]"),
    ("compact", "Summarise the conversation to free context", "<instructions>"),
    ("context", "Show what fills the context window", ""),
    ("effort", "Set how hard the model works", "<low|medium|high|xhigh|max|auto>"),
    ("init", "Write a CLAUDE.md for this project", ""),
    ("mcp", "Manage MCP servers", "[reconnect|enable|disable [<server>|all]]"),
    ("model", "Set the model", "<model>"),
    ("rename", "Rename the session", "[name]"),
    ("usage", "Show what the session cost", ""),
];

/// Models by short name, full name and display name.
const MODELS: &[(&str, &str, &str)] = &[
    ("default", "claude-opus-5-5", "Default (recommended)"),
    ("opus", "claude-opus-5-5", "Opus"),
    ("fable", "claude-fable-5-2", "Fable"),
    ("sonnet", "claude-sonnet-5-5", "Sonnet"),
    ("haiku", "claude-haiku-5-5", "Haiku"),
];

/// Built-in agents.
pub(super) const AGENTS: &[&str] = &["claude", "Explore", "general-purpose", "Plan", "statusline-setup"];

/// Capabilities listed in `system/init`.
pub(super) const CAPABILITIES: &[&str] = &[
    "interrupt_receipt_v1",
    "interrupt_cancel_queued_v1",
    "msg_lifecycle_v1",
    "request_marker_lists_v1",
    "sdk_mcp_tools_list_changed",
];

/// Names of the commands.
pub(super) fn command_names() -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, _, _)| *name).collect()
}

/// The commands in the form of `initialize`.
pub(super) fn commands() -> Value {
    let shown = |(name, description, hint): &(&str, &str, &str)| json!({"name": name, "description": description, "argumentHint": hint, "builtin": true});
    COMMANDS.iter().map(shown).collect()
}

/// The agents in the form of `initialize`.
pub(super) fn agents() -> Value {
    AGENTS.iter().map(|name| json!({"name": name, "description": format!("The agent {name}")})).collect()
}

/// The models in the form of `initialize` and `list_models`.
pub(super) fn models() -> Value {
    let shown = |(value, resolved, display): &(&str, &str, &str)| {
        json!({
            "value": value,
            "resolvedModel": resolved,
            "displayName": display,
            "description": format!("{display}, as rehearsed"),
            "supportsEffort": true,
            "supportedEffortLevels": ["low", "medium", "high", "xhigh", "max"],
            "supportsAdaptiveThinking": true,
            "supportsAutoMode": true,
            "supportsThinkingOff": false,
        })
    };
    MODELS.iter().map(shown).collect()
}
