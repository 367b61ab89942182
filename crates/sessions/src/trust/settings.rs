//! Commands in settings files.

use serde_json::Value;

use crate::limits::TRUST_TEXT_CHARS_MAX;

/// Settings that run nothing and allow nothing. All other settings count, since `claude` may know them.
const HARMLESS: &[&str] = &[
    "$schema",
    "alwaysThinkingEnabled",
    "attribution",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "effortLevel",
    "includeCoAuthoredBy",
    "language",
    "model",
    "prefersReducedMotion",
    "respectGitignore",
    "showTurnDuration",
    "spinnerTipsEnabled",
    "spinnerVerbs",
    "terminalProgressBarEnabled",
    "theme",
    "viewMode",
];

/// The settings that need trust, with their keys.
pub(super) fn settings(text: &str) -> Vec<(String, String)> {
    let Some(all) = object(text) else { return unreadable() };
    let mut found = Vec::new();
    for (key, value) in
        all.iter().filter(|(key, value)| !HARMLESS.contains(&key.as_str()) && !is_empty(value))
    {
        match (key.as_str(), value) {
            // Rules that deny or ask are harmless.
            ("permissions", Value::Object(rules)) => {
                let more = rules
                    .iter()
                    .filter(|(rule, value)| !matches!(rule.as_str(), "deny" | "ask") && !is_empty(value));
                found.extend(more.map(|(rule, value)| (format!("permissions.{rule}"), excerpt(value))));
            }
            ("hooks" | "env", Value::Object(parts)) => {
                found.extend(parts.iter().map(|(part, value)| (format!("{key}.{part}"), excerpt(value))));
            }
            _ => found.push((key.clone(), excerpt(value))),
        }
    }
    found
}

/// The MCP servers of a `.mcp.json` file.
pub(super) fn servers(text: &str) -> Vec<(String, String)> {
    let Some(all) = object(text) else { return unreadable() };
    match all.get("mcpServers") {
        Some(Value::Object(servers)) => {
            servers.iter().map(|(name, server)| (format!("mcpServers.{name}"), excerpt(server))).collect()
        }
        Some(other) if !is_empty(other) => vec![("mcpServers".to_owned(), excerpt(other))],
        _ => Vec::new(),
    }
}

fn object(text: &str) -> Option<serde_json::Map<String, Value>> {
    if text.trim().is_empty() {
        return Some(serde_json::Map::new());
    }
    serde_json::from_str(text).ok()
}

/// The finding for a file that cannot be parsed here, but perhaps by `claude`.
fn unreadable() -> Vec<(String, String)> {
    vec![(String::new(), "The file is not a JSON object".to_owned())]
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn excerpt(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(TRUST_TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}
