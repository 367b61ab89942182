//! Rules that "always" may add.
//!
//! A rule outlives the request, so a user must be able to tell from its text what it allows. Rules that allow
//! any script, rules with a wildcard for a command that is not known to be harmless, and rules for a whole
//! tool that writes or runs are never offered. A rule that is not understood is not offered either.

mod commands;
mod programs;

use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::permissions::{PermissionDestination, PermissionRule, RulesUpdate};
use tidings_protocol::tools::mcp_parts;
use tidings_protocol::ui::{PermissionLevel, TargetType};

use super::runs::runs_by_its_name;
use super::secrets::is_secret;
use super::{Ask, is_hidden, is_sensitive_folder, paths};

/// Destination of the rules that another agent than Claude Code keeps. Their text is the agent's own
/// description of them.
pub const AGENT_DESTINATION: &str = "agent";

/// True if each rule may be offered, and the rules together cover the whole request and nothing beside it.
pub(super) fn is_offerable(ask: &Ask, updates: &[&RulesUpdate]) -> bool {
    let rules: Vec<&PermissionRule> = updates.iter().flat_map(|update| &update.rules).collect();
    if rules.is_empty() || rules.iter().any(|rule| has_hidden_text(rule)) {
        return false;
    }
    if updates.iter().any(|update| is_kept_by_agent(update.destination.as_ref())) {
        // The agent decides what its rule covers, so only the call itself can be judged.
        return match ask.request.target_type {
            TargetType::Command => commands::are_plain(ask.script.as_ref()),
            TargetType::Path => {
                let is_read = ask.request.level == PermissionLevel::Read;
                let folder = ask.facts.folder.path();
                ask.risk < RiskLevel::High && (is_read || !may_run(&ask.request.target, folder))
            }
            TargetType::Domain => ask.risk < RiskLevel::High,
            _ => false,
        };
    }
    match ask.request.target_type {
        TargetType::Command => {
            let contents = rules.iter().map(|rule| {
                let is_same_tool = rule.tool_name == ask.tool_name;
                rule.rule_content.as_deref().filter(|_| is_same_tool)
            });
            let contents: Option<Vec<&str>> = contents.collect();
            contents.is_some_and(|contents| commands::are_covered(ask.script.as_ref(), &contents))
        }
        TargetType::Path => rules.iter().all(|rule| is_path_rule(ask, rule)),
        TargetType::Domain => {
            let domain = format!("domain:{}", ask.request.target);
            let covers = |rule: &&PermissionRule| {
                rule.tool_name == ask.tool_name && rule.rule_content.as_deref() == Some(domain.as_str())
            };
            !domain.contains('*') && rules.iter().all(covers)
        }
        TargetType::Tool => rules.iter().all(|rule| is_tool_rule(ask, rule)),
        _ => false,
    }
}

fn is_kept_by_agent(destination: Option<&PermissionDestination>) -> bool {
    destination.is_some_and(|destination| destination.as_str() == AGENT_DESTINATION)
}

fn has_hidden_text(rule: &PermissionRule) -> bool {
    let texts = [Some(rule.tool_name.as_str()), rule.rule_content.as_deref()];
    texts.into_iter().flatten().any(|text| text.chars().any(|c| c.is_control() || is_hidden(c)))
}

/// True if a rule is about the path of the request: the very file, or a folder around it that is read.
fn is_path_rule(ask: &Ask, rule: &PermissionRule) -> bool {
    // Only a path with two slashes is absolute; others depend on the settings that the rule is stored in.
    let path = rule.rule_content.as_deref().and_then(|content| content.strip_prefix('/'));
    let Some(path) = path.filter(|path| path.starts_with('/')) else { return false };
    let folder = ask.facts.folder.path();
    let (base, is_folder) = path.strip_suffix("/**").map_or((path, false), |base| (base, true));
    let target = ask.request.target.as_str();
    if base.contains(['*', '?', '[', '{', '!', '\\']) || paths::normalise(base) != base {
        return false;
    }
    match rule.tool_name.as_str() {
        "Read" if is_folder => paths::lies_in(target, base) && is_narrow_folder(base, folder),
        "Read" => base == target && !ask.request.recursive,
        // A file that programs run must be seen each time that it changes.
        "Edit" | "Write" => base == target && !is_folder && !ask.request.recursive && !may_run(base, folder),
        _ => false,
    }
}

/// True if a folder is that of the session or lies in it, or is neither one of credentials nor one that
/// contains other users' folders or this session's.
fn is_narrow_folder(base: &str, folder: Option<&str>) -> bool {
    if is_sensitive_folder(base) {
        return false;
    }
    match folder {
        Some(folder) if paths::lies_in(base, folder) => true,
        Some(folder) if paths::lies_in(folder, base) => false,
        _ => {
            let parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
            let is_home = matches!(parts[..], ["home" | "Users", _]);
            let is_hidden = parts.iter().any(|part| part.starts_with('.'));
            parts.len() >= 2 && !is_home && !is_hidden && !matches!(parts[0], "root" | "etc" | "proc" | "dev")
        }
    }
}

/// True if a file is one that programs run or obey because of its name.
fn may_run(path: &str, folder: Option<&str>) -> bool {
    let inside = folder.and_then(|folder| path.strip_prefix(folder)).unwrap_or(path);
    let is_hidden = inside.split('/').any(|part| part.starts_with('.'));
    is_hidden || runs_by_its_name(path) || is_secret(path) || programs::is_script_file(path)
}

/// Tools beside those of MCP servers that do nothing but answer.
const HARMLESS_TOOLS: &[&str] = &["WebSearch", "TodoWrite", "ToolSearch"];

/// Words in the names of MCP tools that run what they are given.
const RUNNING_WORDS: &[&str] = &[
    "exec",
    "execute",
    "run",
    "shell",
    "bash",
    "sh",
    "terminal",
    "command",
    "commands",
    "cmd",
    "script",
    "eval",
    "evaluate",
    "python",
    "node",
    "powershell",
    "ssh",
    "sql",
    "query",
    "process",
    "spawn",
    "sudo",
];

/// True if a rule is about the tool of the request, and allowing all of its calls allows no script.
fn is_tool_rule(ask: &Ask, rule: &PermissionRule) -> bool {
    let name = rule.tool_name.as_str();
    if name != ask.tool_name || name.contains('*') {
        return false;
    }
    match rule.rule_content.as_deref() {
        None if HARMLESS_TOOLS.contains(&name) => true,
        None => mcp_parts(name).is_some_and(|(_, tool)| {
            let words = tool.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(split_capitals);
            !tool.is_empty() && !words.into_iter().any(|word| RUNNING_WORDS.contains(&word.as_str()))
        }),
        // A skill is named by its input.
        Some(content) if name == "Skill" => {
            let skill = ask.input.raw().get("skill").and_then(|skill| Some(skill.text()?.get().into_owned()));
            !content.contains('*') && skill.as_deref() == Some(content)
        }
        Some(_) => false,
    }
}

/// The words of a name such as `runCommand`, in lower case.
fn split_capitals(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}
