//! Grants: permissions that outlast one call.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_protocol::ui::{PermissionLevel, TargetType};

use super::command::{Script, SimpleCommand, WordKind};
use super::{Ask, disk, glob, paths};

/// A permission for a target, up to a level, until it expires.
///
/// ```
/// use tidings_agent::permissions::{Ask, Grant, GrantTarget, SessionFacts};
/// use tidings_protocol::control::CanUseTool;
/// use tidings_protocol::ui::PermissionLevel;
///
/// let grant = Grant::new("g1", GrantTarget::Command { glob: "git *".into() }, PermissionLevel::Execute);
/// let ask = |command: &str| {
///     let input = serde_json::json!({ "command": command }).into();
///     let facts = SessionFacts::in_folder("/home/ada/demo");
///     Ask::new(1, "r", &CanUseTool::new("Bash", input, "toolu_1"), &facts)
/// };
/// assert!(grant.covers(&ask("git status")));
/// assert!(!grant.covers(&ask("git status; rm x")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// The id of the grant, for revocation and for the audit log.
    pub id: String,
    /// The target.
    pub target: GrantTarget,
    /// The highest level that it allows; each level includes the lower ones, and `None` allows nothing.
    pub level: Option<PermissionLevel>,
    /// The time at which it ends; `None` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// The target of a grant. Different kinds never cover each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum GrantTarget {
    /// A file or folder.
    Path {
        /// The path.
        path: String,
        /// True if everything below is included.
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
    /// Creates a grant that does not expire.
    pub fn new(id: impl Into<String>, target: GrantTarget, level: PermissionLevel) -> Self {
        Grant { id: id.into(), target, level: Some(level), expires: None }
    }

    /// Sets the time at which the grant expires.
    #[must_use]
    pub fn until(mut self, expires: Timestamp) -> Self {
        self.expires = Some(expires);
        self
    }

    /// The smallest grant for a request, if one covers it.
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

    /// True if it has not expired.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }

    /// True if it allows the request at this time.
    pub fn satisfies(&self, ask: &Ask, now: Timestamp) -> bool {
        self.is_live(now) && self.covers(ask)
    }

    /// True if its target includes that of the request, and its level is high enough.
    ///
    /// A request that only the user can answer is not covered by any grant, and neither is one for a
    /// protected folder.
    pub fn covers(&self, ask: &Ask) -> bool {
        if ask.needs_person || self.level.is_none_or(|level| level < ask.request.level) || ask.is_protected()
        {
            return false;
        }
        let target = ask.request.target.as_str();
        match (&self.target, ask.request.target_type) {
            (GrantTarget::Path { path, recursive }, TargetType::Path) => {
                let (mine, asked) = (paths::normalise(path), paths::normalise(target));
                if *recursive {
                    // A link in the folder may lead out of it.
                    paths::lies_in(&asked, &mine) && !disk::leads_out(&asked, &mine)
                } else {
                    !ask.request.recursive && mine == asked
                }
            }
            (GrantTarget::Domain { pattern }, TargetType::Domain) => {
                // A URL that has no plain host is the target as it is.
                !target.contains(['/', '@', '\\']) && glob::matches(&pattern.to_ascii_lowercase(), target)
            }
            (GrantTarget::Command { glob }, TargetType::Command) => {
                ask.script.as_ref().is_some_and(|script| covers_script(glob, ask, script))
            }
            (GrantTarget::Tool { name }, TargetType::Tool) => name == target,
            _ => false,
        }
    }

    /// True if it covers one command of a script.
    pub(super) fn covers_command(&self, command: &SimpleCommand, level: PermissionLevel) -> bool {
        self.level.is_some_and(|mine| mine >= level)
            && matches!(&self.target, GrantTarget::Command { glob } if covers_command(glob, command))
    }
}

/// True if every command is covered. An identical text is covered even if it writes a file, because the user
/// has seen it; a script that is not known before it runs never is.
fn covers_script(pattern: &str, ask: &Ask, script: &Script) -> bool {
    if script.is_opaque() || script.commands().is_empty() {
        return false;
    }
    if glob::only_text(pattern).is_some_and(|only| only == ask.request.target) {
        return true;
    }
    is_open_to_patterns(ask, script)
        && script.commands().iter().all(|command| covers_command(pattern, command))
}

/// True if patterns may cover a script: the user has not seen it as a whole, so the folder must be known, and
/// it must not both fetch and use something.
pub(super) fn is_open_to_patterns(ask: &Ask, script: &Script) -> bool {
    ask.facts.folder.path().is_some() && !script.fetches_and_does_more()
}

/// True if a pattern covers a command without side conditions, all of whose words are known.
fn covers_command(pattern: &str, command: &SimpleCommand) -> bool {
    command.is_bare()
        && command.words.iter().all(|word| word.kind == WordKind::Static)
        && command_matches(pattern, command)
}

/// True if a command matches a pattern word by word. A `*` at the end matches all further words, also none.
pub(crate) fn command_matches(pattern: &str, command: &SimpleCommand) -> bool {
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
