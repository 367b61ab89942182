use serde_json::Value;
use tidings_protocol::ui::{PermissionDetails, PermissionLevel, PermissionRequest};

use super::super::keys::Key;
use super::super::line::Line;
use super::super::style::Style;
use super::entry::{Entry, Typed};
use super::input::input_lines;
use super::{Reach, Reply, key_line};

/// May this tool run?
#[derive(Debug, Clone, Default)]
pub(crate) struct PermissionAsk {
    pub(crate) tool: String,
    pub(crate) input: Value,
    /// The question in words that follow from the input.
    pub(crate) description: String,
    /// Why the CLI asks.
    pub(crate) reason: Option<String>,
    /// The path that made the CLI ask.
    pub(crate) path: Option<String>,
    /// The sub-agent that wants it.
    pub(crate) agent: Option<String>,
    /// The rules that "always" adds, letter for letter; none if it cannot be said.
    pub(crate) rules: Vec<String>,
    /// How much can go wrong, if that is a lot.
    pub(crate) warning: Option<String>,
    pub(crate) typing: Option<Reason>,
}

/// A reason that is being typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reason(Entry);

impl PermissionAsk {
    /// The question in words, and what the words are about.
    pub(crate) fn new(request: Option<&PermissionRequest>, details: Option<&PermissionDetails>) -> Self {
        // Nearly every command could do harm; what can do anything at all is worth a warning.
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
            warning: risky.then(|| "high risk: look closely".to_owned()),
            typing: None,
        }
    }

    /// Whether the question is if a plan is to be carried out.
    fn is_plan(&self) -> bool {
        self.tool == "ExitPlanMode"
    }

    /// What is asked, in full; it stays on the screen.
    pub(crate) fn introduction(&self, columns: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        let title = if self.is_plan() { "Carry out this plan?" } else { "Allow this?" };
        let mut head = Line::styled(&format!("? {title}"), Style::YELLOW.and(Style::BOLD));
        if !self.description.is_empty() {
            head.push(&format!(" {}", self.description), Style::PLAIN);
        }
        lines.extend(head.wrap(columns, 2));
        if let Some(agent) = &self.agent {
            lines.push(Line::styled(&format!("  asked by the sub-agent {agent}"), Style::DIM));
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

    pub(super) fn key(&mut self, key: Key) -> Option<Reply> {
        if let Some(Reason(entry)) = &mut self.typing {
            match entry.key(key) {
                Typed::Nothing => {}
                Typed::Left => self.typing = None,
                Typed::Text(reason) => return Some(Reply::Deny(Some(reason))),
            }
            return None;
        }
        match key {
            Key::Char('y') => Some(Reply::Allow(Reach::Once)),
            Key::Char('s') if !self.is_plan() => Some(Reply::Allow(Reach::Session)),
            Key::Char('a') if self.is_plan() => Some(Reply::Allow(Reach::Session)),
            Key::Char('a') if !self.rules.is_empty() => Some(Reply::Allow(Reach::Always)),
            Key::Char('n') => Some(Reply::Deny(None)),
            Key::Char('e') => {
                self.typing = Some(Reason::default());
                None
            }
            _ => None,
        }
    }

    /// The keys; with a reminder of what they decide where several questions are open.
    pub(super) fn lines(&self, columns: usize, several: bool) -> Vec<Line> {
        if let Some(Reason(entry)) = &self.typing {
            return entry.lines("Reason", columns);
        }
        let mut lines = Vec::new();
        if several {
            lines.push(Line::styled(&self.description, Style::BOLD));
        }
        let always = format!("always: {}", self.rules.join(", "));
        let mut keys = Vec::new();
        if self.is_plan() {
            keys.extend([("y", "carry it out"), ("a", "and change files without asking")]);
            keys.extend([("n", "no, keep planning"), ("e", "no, and say what to change")]);
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

    /// What was decided, in a line that stays.
    pub(crate) fn settled(&self, reply: &Reply) -> Line {
        let (mark, words, style) = match reply {
            Reply::Allow(Reach::Session) if self.is_plan() => {
                ("✓", "carry it out, and change files without asking".to_owned(), Style::GREEN)
            }
            Reply::Allow(_) if self.is_plan() => ("✓", "carry it out".to_owned(), Style::GREEN),
            Reply::Allow(Reach::Once) => ("✓", "allowed once".to_owned(), Style::GREEN),
            Reply::Allow(Reach::Session) => ("✓", "allowed for this session".to_owned(), Style::GREEN),
            Reply::Allow(Reach::Always) => {
                ("✓", format!("always allowed: {}", self.rules.join(", ")), Style::GREEN)
            }
            Reply::Deny(Some(reason)) => ("✗", format!("no: {reason}"), Style::RED),
            _ => ("✗", "no".to_owned(), Style::RED),
        };
        Line::styled(&format!("  {mark} {words}"), style)
    }
}

/// The rules that "always" adds, letter for letter, and where they are kept.
fn rules(suggestions: &Value) -> Vec<String> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let updates = suggestions.as_array().into_iter().flatten();
    let allowing = updates.filter(|update| {
        text(update, "type").as_deref() == Some("addRules")
            && text(update, "behavior").as_deref() == Some("allow")
    });
    allowing
        .flat_map(|update| {
            let place = text(update, "destination").as_deref().and_then(kept_in).unwrap_or_default();
            let rules = update.get("rules").and_then(Value::as_array).into_iter().flatten();
            rules.filter_map(move |rule| {
                let tool = text(rule, "toolName")?;
                let content =
                    text(rule, "ruleContent").map(|content| format!("({content})")).unwrap_or_default();
                Some(format!("{tool}{content}{place}"))
            })
        })
        .collect()
}

/// Where a rule is kept, as the CLI names its files.
fn kept_in(destination: &str) -> Option<&'static str> {
    match destination {
        "localSettings" => Some(" in .claude/settings.local.json"),
        "projectSettings" => Some(" in .claude/settings.json"),
        "userSettings" => Some(" in your own settings"),
        "session" => Some(" in this session"),
        _ => None,
    }
}
