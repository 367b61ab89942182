use serde::{Deserialize, Serialize};

/// Kind of work that a tool does, for grouping and icons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolFamily {
    /// Reads and changes files.
    File,
    /// Runs commands, and monitors or stops background tasks.
    Command,
    /// Finds files, text, symbols or tools.
    Search,
    /// Accesses the web.
    Web,
    /// Maintains the list of tasks.
    Task,
    /// Runs a slash command or a skill.
    SlashCommand,
    /// Starts other agents and sends them messages.
    SubAgent,
    /// Belongs to an MCP server, or manages the servers.
    Mcp,
    /// Enters and leaves plan mode.
    Plan,
    /// Asks the user.
    Question,
    /// Anything else, and every tool unknown to this version.
    #[serde(other)]
    Other,
}

/// Server and tool in the name of an MCP tool, `mcp__server__tool`.
///
/// The first `__` after the prefix ends the server, as in the CLI: the tool's name may contain more of them.
pub fn mcp_parts(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{canonical_name, family};

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
