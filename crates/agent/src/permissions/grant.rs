//! What somebody allowed for a while.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_protocol::ui::{PermissionLevel, TargetType};

use super::command::{Command, Script, WordKind};
use super::{Ask, glob, paths};

/// A permission for a target, up to a level, until it expires.
///
/// ```
/// use tidings_agent::permissions::{Ask, Grant, GrantTarget};
/// use tidings_protocol::control::CanUseTool;
/// use tidings_protocol::ui::PermissionLevel;
///
/// let grant = Grant::new("g1", GrantTarget::Command { glob: "git *".into() }, PermissionLevel::Execute);
/// let ask = |command: &str| {
///     let input = serde_json::json!({ "command": command }).into();
///     Ask::new(1, "r", &CanUseTool::new("Bash", input, "toolu_1"), None)
/// };
/// assert!(grant.covers(&ask("git status")));
/// assert!(!grant.covers(&ask("git status; rm x")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// Names the grant, to revoke it and to say what allowed a call.
    pub id: String,
    /// What it is for.
    pub target: GrantTarget,
    /// How much it allows; each level includes those before it, and none allows nothing.
    pub level: Option<PermissionLevel>,
    /// When it ends; never, if there is no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// What a grant is for. Different kinds never cover each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum GrantTarget {
    /// A file or folder.
    Path {
        /// Where.
        path: String,
        /// Whether everything below is meant as well.
        recursive: bool,
    },
    /// Hosts.
    Domain {
        /// A host, or a pattern such as `*.example.com`.
        pattern: String,
    },
    /// Shell commands.
    Command {
        /// The words with `*` in them: `git *` covers git with any arguments, `cargo test *` its tests.
        glob: String,
    },
    /// A tool as a whole.
    Tool {
        /// Its name.
        name: String,
    },
}

impl Grant {
    /// A grant that does not expire.
    pub fn new(id: impl Into<String>, target: GrantTarget, level: PermissionLevel) -> Self {
        Grant { id: id.into(), target, level: Some(level), expires: None }
    }

    /// The same until a time.
    #[must_use]
    pub fn until(mut self, expires: Timestamp) -> Self {
        self.expires = Some(expires);
        self
    }

    /// The smallest grant for a question, if there is one that covers it.
    pub(super) fn for_ask(ask: &Ask) -> Option<Self> {
        if ask.needs_person {
            return None;
        }
        let target = ask.request.target.clone();
        let target = match ask.request.target_type {
            TargetType::Path => GrantTarget::Path { path: target, recursive: ask.request.recursive },
            TargetType::Domain => GrantTarget::Domain { pattern: glob::literal(&target) },
            TargetType::Command => GrantTarget::Command { glob: glob::literal(&target) },
            TargetType::Tool => GrantTarget::Tool { name: target },
            _ => return None,
        };
        let grant = Grant::new(format!("grant-{}", ask.key.tool_use_id), target, ask.request.level);
        grant.covers(ask).then_some(grant)
    }

    /// Whether it still holds.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }

    /// Whether it allows what is asked, now.
    pub fn satisfies(&self, ask: &Ask, now: Timestamp) -> bool {
        self.is_live(now) && self.covers(ask)
    }

    /// Whether its target includes that of the question, and its level reaches.
    ///
    /// A question that only a person can answer is covered by nothing.
    pub fn covers(&self, ask: &Ask) -> bool {
        if ask.needs_person || self.level.is_none_or(|level| level < ask.request.level) {
            return false;
        }
        let target = ask.request.target.as_str();
        match (&self.target, ask.request.target_type) {
            (GrantTarget::Path { path, recursive }, TargetType::Path) => {
                let (mine, asked) = (paths::normalise(path), paths::normalise(target));
                if *recursive {
                    paths::lies_in(&asked, &mine)
                } else {
                    !ask.request.recursive && mine == asked
                }
            }
            (GrantTarget::Domain { pattern }, TargetType::Domain) => {
                // An address that is no plain host stands there as it came.
                !target.contains(['/', '@', '\\']) && glob::matches(&pattern.to_ascii_lowercase(), target)
            }
            (GrantTarget::Command { glob }, TargetType::Command) => {
                ask.script.as_ref().is_some_and(|script| covers_script(glob, target, script))
            }
            (GrantTarget::Tool { name }, TargetType::Tool) => name == target,
            _ => false,
        }
    }

    /// Whether it covers one command of a script.
    pub(super) fn covers_command(&self, command: &Command, level: PermissionLevel) -> bool {
        self.level.is_some_and(|mine| mine >= level)
            && matches!(&self.target, GrantTarget::Command { glob } if covers_command(glob, command))
    }
}

/// Whether every command that runs is covered. The same text is covered even where it writes a file, as somebody has
/// seen exactly that; a script that is not known before it runs never is.
fn covers_script(pattern: &str, text: &str, script: &Script) -> bool {
    if script.is_opaque() || script.commands().is_empty() {
        return false;
    }
    if glob::only_text(pattern).is_some_and(|only| only == text) {
        return true;
    }
    script.commands().iter().all(|command| covers_command(pattern, command))
}

/// Whether a pattern covers a command that only its words matter of, all of them known.
fn covers_command(pattern: &str, command: &Command) -> bool {
    command.is_bare()
        && command.words.iter().all(|word| word.kind == WordKind::Static)
        && command_matches(pattern, command)
}

/// Whether a command matches a pattern word by word. A `*` at its end stands for all further words, also for none.
pub(crate) fn command_matches(pattern: &str, command: &Command) -> bool {
    let patterns: Vec<&str> = pattern.split_whitespace().collect();
    let mut words = command.words.iter();
    for (at, pattern) in patterns.iter().enumerate() {
        if *pattern == "*" && at + 1 == patterns.len() {
            return !command.words.is_empty();
        }
        if !words.next().is_some_and(|word| glob::matches(pattern, &word.text)) {
            return false;
        }
    }
    words.next().is_none() && !patterns.is_empty()
}
