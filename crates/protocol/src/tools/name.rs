use serde::{Deserialize, Serialize};

/// The name a tool has today. Older CLIs, and older transcripts, use other names for some.
pub fn canonical_name(name: &str) -> &str {
    match name {
        "Task" => "Agent",
        "KillShell" | "KillBash" => "TaskStop",
        "ListPeers" => "ListAgents",
        "Brief" => "SendUserMessage",
        "ListMcpResources" => "ListMcpResourcesTool",
        "ReadMcpResource" => "ReadMcpResourceTool",
        "ReadMcpResourceDir" => "ReadMcpResourceDirTool",
        other => other,
    }
}

/// What kind of work a tool does, to group and to decorate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolFamily {
    /// Reads and changes files.
    File,
    /// Runs commands, and watches or stops what runs in the background.
    Command,
    /// Finds files, text, symbols or tools.
    Search,
    /// Goes to the web.
    Web,
    /// Keeps the list of what is to be done.
    Task,
    /// Runs a slash command or a skill.
    SlashCommand,
    /// Starts other agents and talks with them.
    SubAgent,
    /// Belongs to an MCP server, or deals with the servers.
    Mcp,
    /// Enters and leaves plan mode.
    Plan,
    /// Asks the user.
    Question,
    /// Anything else, and every tool that was not known when this was written.
    #[serde(other)]
    Other,
}

/// The family of a tool, by its name of today or an older one.
///
/// `TaskStop` and `TaskOutput` are [`ToolFamily::Command`]: they were `KillShell` and `BashOutput` before, and
/// have nothing to do with the list of tasks.
pub fn family(name: &str) -> ToolFamily {
    match canonical_name(name) {
        "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "NotebookRead" | "LS" => ToolFamily::File,
        "Bash" | "BashOutput" | "PowerShell" | "Monitor" | "TaskOutput" | "TaskStop" => ToolFamily::Command,
        "Grep" | "Glob" | "LSP" | "ToolSearch" => ToolFamily::Search,
        "WebFetch" | "WebSearch" => ToolFamily::Web,
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskGet" | "TaskUpdate" | "TaskList" => ToolFamily::Task,
        "SlashCommand" | "Skill" => ToolFamily::SlashCommand,
        "Agent" | "ListAgents" | "SendMessage" | "SubagentHandback" | "Workflow" => ToolFamily::SubAgent,
        "ListMcpResourcesTool"
        | "ReadMcpResourceTool"
        | "ReadMcpResourceDirTool"
        | "RefreshMcpTools"
        | "WaitForMcpServers" => ToolFamily::Mcp,
        "EnterPlanMode" | "ExitPlanMode" => ToolFamily::Plan,
        "AskUserQuestion" => ToolFamily::Question,
        other if mcp_parts(other).is_some() => ToolFamily::Mcp,
        _ => ToolFamily::Other,
    }
}

/// The server and the tool of an MCP tool's name, `mcp__server__tool`.
///
/// The first `__` after the prefix ends the server, as in the CLI: what follows may contain more of them.
pub fn mcp_parts(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        use ToolFamily::{
            Command, File, Mcp, Other, Plan, Question, Search, SlashCommand, SubAgent, Task, Web,
        };
        for (name, canonical, expected) in [
            ("Read", "Read", File),
            ("Write", "Write", File),
            ("Edit", "Edit", File),
            ("MultiEdit", "MultiEdit", File),
            ("NotebookEdit", "NotebookEdit", File),
            ("Bash", "Bash", Command),
            ("BashOutput", "BashOutput", Command),
            ("KillShell", "TaskStop", Command),
            ("KillBash", "TaskStop", Command),
            ("TaskStop", "TaskStop", Command),
            ("PowerShell", "PowerShell", Command),
            ("Monitor", "Monitor", Command),
            ("Grep", "Grep", Search),
            ("Glob", "Glob", Search),
            ("ToolSearch", "ToolSearch", Search),
            ("WebFetch", "WebFetch", Web),
            ("WebSearch", "WebSearch", Web),
            ("TodoWrite", "TodoWrite", Task),
            ("TaskCreate", "TaskCreate", Task),
            ("TaskGet", "TaskGet", Task),
            ("TaskUpdate", "TaskUpdate", Task),
            ("TaskList", "TaskList", Task),
            ("SlashCommand", "SlashCommand", SlashCommand),
            ("Skill", "Skill", SlashCommand),
            ("Task", "Agent", SubAgent),
            ("Agent", "Agent", SubAgent),
            ("ListPeers", "ListAgents", SubAgent),
            ("SendMessage", "SendMessage", SubAgent),
            ("mcp__calc__add", "mcp__calc__add", Mcp),
            ("ListMcpResources", "ListMcpResourcesTool", Mcp),
            ("ReadMcpResource", "ReadMcpResourceTool", Mcp),
            ("ReadMcpResourceDir", "ReadMcpResourceDirTool", Mcp),
            ("EnterPlanMode", "EnterPlanMode", Plan),
            ("ExitPlanMode", "ExitPlanMode", Plan),
            ("AskUserQuestion", "AskUserQuestion", Question),
            ("Brief", "SendUserMessage", Other),
            ("CronCreate", "CronCreate", Other),
            ("Hologram", "Hologram", Other),
            ("", "", Other),
        ] {
            assert_eq!(canonical_name(name), canonical, "{name}");
            assert_eq!(family(name), expected, "{name}");
        }
        assert_eq!(serde_json::to_string(&SlashCommand).unwrap(), r#""slash_command""#);
        assert_eq!(serde_json::from_str::<ToolFamily>(r#""telepathy""#).unwrap(), Other);
    }

    #[test]
    fn names_of_mcp_tools() {
        assert_eq!(mcp_parts("mcp__calc__add"), Some(("calc", "add")));
        assert_eq!(mcp_parts("mcp__calc__add__two"), Some(("calc", "add__two")));
        assert_eq!(mcp_parts("mcp__plugin_a_b__c"), Some(("plugin_a_b", "c")));
        for name in ["mcp__calc", "mcp__calc__", "mcp____add", "mcp__", "calc__add", "Bash"] {
            assert_eq!(mcp_parts(name), None, "{name}");
        }
    }
}
