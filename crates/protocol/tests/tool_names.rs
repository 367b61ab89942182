//! Names and families of tools.

use tidings_protocol::tools::{ToolFamily, canonical_name, family, mcp_parts};

#[test]
fn names() {
    use ToolFamily::{Command, File, Mcp, Other, Plan, Question, Search, SlashCommand, SubAgent, Task, Web};
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
