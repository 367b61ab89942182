//! A permission request in the terminal: what is asked, the keys and the decision.

use serde_json::Value;
use tidings_protocol::ui::{PermissionDetails, PermissionLevel, PermissionRequest, PermissionScope};

use super::super::keys::Key;
use super::super::line::Line;
use super::super::style::Style;
use super::entry::{EntryResult, TextEntry};
use super::input::input_lines;
use super::{Reply, key_line};

/// Permission request of a tool.
#[derive(Debug, Clone, Default)]
pub struct PermissionAsk {
    pub(crate) tool: String,
    pub(crate) input: Value,
    /// Description that is derived from the input.
    pub(crate) description: String,
    /// Reason of the request.
    pub(crate) reason: Option<String>,
    /// Path that caused the request.
    pub(crate) path: Option<String>,
    /// Sub-agent that sent the request.
    pub(crate) agent: Option<String>,
    /// Rules that "always" adds, unabridged; empty if "always" is not available.
    pub rules: Vec<String>,
    /// Warning of a high risk.
    pub(crate) warning: Option<String>,
    pub(crate) typing: Option<ReasonField>,
}

/// Text field for the reason of a denial.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReasonField(TextEntry);

impl PermissionAsk {
    /// Creates the prompt of a permission request.
    pub fn new(request: Option<&PermissionRequest>, details: Option<&PermissionDetails>) -> Self {
        // Nearly every command could do harm, so only the highest level gets a warning.
        let risky = request.is_some_and(|request| request.level == PermissionLevel::Admin);
        PermissionAsk {
            tool: details.map(|details| details.tool_name.clone()).unwrap_or_default(),
            input: details.map(|details| details.input.clone()).unwrap_or_default(),
            description: request.map(|request| request.description.clone()).unwrap_or_default(),
            reason: request
                .and_then(|request| request.reason.clone())
                .or_else(|| details?.decision_reason.clone()),
            path: details.and_then(|details| details.blocked_path.clone()),
            agent: details.and_then(|details| details.agent_id.clone()),
            rules: details.and_then(|details| details.suggestions.as_ref()).map(rules).unwrap_or_default(),
            warning: risky.then(|| "high risk: check this carefully".to_owned()),
            typing: None,
        }
    }

    /// True if the request is the approval of a plan.
    fn is_plan(&self) -> bool {
        self.tool == "ExitPlanMode"
    }

    /// Formats the whole request; these lines stay on the screen.
    pub fn introduction(&self, columns: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        let title = if self.is_plan() { "Approve this plan?" } else { "Allow this?" };
        let mut head = Line::styled(&format!("? {title}"), Style::YELLOW.and(Style::BOLD));
        if !self.description.is_empty() {
            head.push(&format!(" {}", self.description), Style::PLAIN);
        }
        lines.extend(head.wrap(columns, 2));
        if let Some(agent) = &self.agent {
            lines.push(Line::styled(&format!("  requested by the sub-agent {agent}"), Style::DIM));
        }
        if !self.is_plan() {
            let input = input_lines(&self.tool, &self.input);
            let bar = || Line::styled("  │ ", Style::DIM);
            for line in input.iter().flat_map(|line| line.wrap(columns.saturating_sub(5), 0)) {
                let mut barred = bar();
                barred.extend(line);
                lines.push(barred);
            }
        }
        if let Some(path) = &self.path {
            lines.extend(Line::styled(&format!("  about {path}"), Style::DIM).wrap(columns, 2));
        }
        if let Some(reason) = &self.reason {
            lines.extend(Line::styled(&format!("  because {reason}"), Style::DIM).wrap(columns, 2));
        }
        if let Some(warning) = &self.warning {
            lines.extend(Line::styled(&format!("  ⚠ {warning}"), Style::RED).wrap(columns, 2));
        }
        lines
    }

    pub(super) fn key(&mut self, key: &Key) -> Option<Reply> {
        if let Some(ReasonField(entry)) = &mut self.typing {
            match entry.key(key) {
                EntryResult::Pending => {}
                EntryResult::Cancelled => self.typing = None,
                EntryResult::Text(reason) => return Some(Reply::Deny(Some(reason))),
            }
            return None;
        }
        match key {
            Key::Char('y') => Some(Reply::Allow(PermissionScope::Once)),
            Key::Char('s') if !self.is_plan() => Some(Reply::Allow(PermissionScope::Session)),
            Key::Char('a') if self.is_plan() => Some(Reply::Allow(PermissionScope::Session)),
            Key::Char('a') if !self.rules.is_empty() => Some(Reply::Allow(PermissionScope::Always)),
            Key::Char('n') => Some(Reply::Deny(None)),
            Key::Char('e') => {
                self.typing = Some(ReasonField::default());
                None
            }
            _ => None,
        }
    }

    /// Formats the keys, with the description of the request if several are pending.
    pub(super) fn lines(&self, columns: usize, is_one_of_several: bool) -> Vec<Line> {
        if let Some(ReasonField(entry)) = &self.typing {
            return entry.lines("Reason", columns);
        }
        let mut lines = Vec::new();
        if is_one_of_several {
            lines.push(Line::styled(&self.description, Style::BOLD));
        }
        let always = format!("always: {}", self.rules.join(", "));
        let mut keys = Vec::new();
        if self.is_plan() {
            keys.extend([("y", "approve"), ("a", "approve, and accept edits")]);
            keys.extend([("n", "no, keep planning"), ("e", "no, with a comment")]);
        } else {
            keys.extend([("y", "once"), ("s", "this session")]);
            if !self.rules.is_empty() {
                keys.push(("a", always.as_str()));
            }
            keys.extend([("n", "no"), ("e", "no, with a reason")]);
        }
        lines.extend(key_line(&keys, columns));
        lines
    }

    /// Formats the decision; this line stays on the screen.
    pub(crate) fn settled(&self, reply: &Reply) -> Line {
        let (mark, text, style) = match reply {
            Reply::Allow(PermissionScope::Session) if self.is_plan() => {
                ("✓", "approved, edits are accepted".to_owned(), Style::GREEN)
            }
            Reply::Allow(_) if self.is_plan() => ("✓", "approved".to_owned(), Style::GREEN),
            Reply::Allow(PermissionScope::Once) => ("✓", "allowed once".to_owned(), Style::GREEN),
            Reply::Allow(PermissionScope::Session) => {
                ("✓", "allowed for this session".to_owned(), Style::GREEN)
            }
            Reply::Allow(PermissionScope::Always) => {
                ("✓", format!("always allowed: {}", self.rules.join(", ")), Style::GREEN)
            }
            Reply::Deny(Some(reason)) => ("✗", format!("denied: {reason}"), Style::RED),
            Reply::Deny(None) | Reply::Answers(_) | Reply::Declined => ("✗", "denied".to_owned(), Style::RED),
        };
        Line::styled(&format!("  {mark} {text}"), style)
    }
}

/// Formats the rules that "always" adds, unabridged, with the file that they are stored in.
fn rules(suggestions: &Value) -> Vec<String> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let updates = suggestions.as_array().into_iter().flatten();
    let allowing = updates.filter(|update| {
        text(update, "type").as_deref() == Some("addRules")
            && text(update, "behavior").as_deref() == Some("allow")
    });
    allowing
        .flat_map(|update| {
            let stored_in = text(update, "destination").as_deref().and_then(stored_in).unwrap_or_default();
            let rules = update.get("rules").and_then(Value::as_array).into_iter().flatten();
            rules.filter_map(move |rule| {
                let tool = text(rule, "toolName")?;
                let content =
                    text(rule, "ruleContent").map(|content| format!("({content})")).unwrap_or_default();
                Some(format!("{tool}{content}{stored_in}"))
            })
        })
        .collect()
}

/// Settings that a rule is stored in, as the CLI names its files.
fn stored_in(destination: &str) -> Option<&'static str> {
    match destination {
        "localSettings" => Some(" in .claude/settings.local.json"),
        "projectSettings" => Some(" in .claude/settings.json"),
        "userSettings" => Some(" in your own settings"),
        "session" => Some(" in this session"),
        "agent" => Some(", kept by the agent, which decides what it covers"),
        _ => None,
    }
}
