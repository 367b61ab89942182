//! Rules in an order; the first that matches decides.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::matching::{Item, items};
use super::{Decided, DecisionSource, PermissionPolicy, PolicyDecision};
use crate::permissions::{Ask, CommandKind, Danger, Reach};

/// An ordered list of rules. The first that matches decides.
///
/// A command line is decided command by command, and every file that it reads or writes through a redirection counts as
/// such an access of its own: one that is refused refuses the whole, one that has to be asked about asks about the whole.
/// What is not known before it runs is never allowed by a rule.
///
/// ```
/// use tidings_agent::policy::RuleTable;
///
/// let table: RuleTable = toml::from_str(r#"
///     otherwise = "ask"
///
///     [[rules]]
///     name = "no-secrets"
///     categories = ["file_read", "file_write"]
///     paths = ["*.pem", "/home/*/.ssh/*"]
///     verdict = "deny"
///     reason = "Keys stay where they are"
///
///     [[rules]]
///     name = "tests"
///     kinds = ["test"]
///     verdict = "allow"
///     timeout_seconds = 120
/// "#)?;
/// assert_eq!(table.rules.len(), 2);
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RuleTable {
    /// What is done where no rule matches.
    #[serde(default)]
    pub otherwise: Verdict,
    /// How long to wait where the rule does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// The rules.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// A rule: what it matches, and what it says. It matches what all of its conditions match, and without any everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Rule {
    /// Names the rule in every decision that it makes.
    pub name: String,
    /// What it says.
    pub verdict: Verdict,
    /// What the model is told of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// What is accessed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
    /// Names of tools, with `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Paths with `*`, which also stands for `/`. Without a `/` it is the last part of the path that has to match, and
    /// `/a/*` also means `/a`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// How far it reaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reaches: Vec<Reach>,
    /// Hosts with `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Commands word by word, with `*` in words and, as the last word, for all that follow: `git push *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Short options that all have to be there: `rf`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// Words of which one has to be among the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The kind of the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<CommandKind>,
    /// Why the command is dangerous.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<Danger>,
}

/// What is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Category {
    /// A file or folder is read.
    FileRead,
    /// A file or folder is changed.
    FileWrite,
    /// A command runs.
    Shell,
    /// Something is fetched.
    Network,
    /// A tool that is none of these.
    Tool,
}

/// What a rule says. The order is that of strictness: of several the last counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may.
    Allow,
    /// Somebody has to be asked.
    #[default]
    Ask,
    /// It may not.
    Deny,
}

impl Rule {
    /// A rule without conditions.
    pub fn new(name: impl Into<String>, verdict: Verdict) -> Self {
        Rule { name: name.into(), verdict, ..Rule::default() }
    }
}

impl RuleTable {
    /// Rules for everyday work: looking is allowed except at secrets and far outside of the
    /// session's folder, writing is asked about, destroying is refused.
    pub fn standard() -> Self {
        super::standard::table()
    }

    /// What is said about one access, by which rule, and how long to wait.
    fn judge(&self, item: &Item<'_>) -> Judged<'_> {
        let rule = self.rules.iter().find(|rule| item.matches(rule));
        let (verdict, name) = rule.map_or((self.otherwise, "otherwise"), |rule| (rule.verdict, &rule.name));
        let mut judged = Judged { verdict, name, rule };
        if verdict == Verdict::Allow
            && let Some(doubt) = item.doubt()
        {
            judged.verdict = Verdict::Ask;
            judged.name = doubt;
        }
        judged
    }
}

struct Judged<'a> {
    verdict: Verdict,
    name: &'a str,
    rule: Option<&'a Rule>,
}

impl PermissionPolicy for RuleTable {
    fn decide(&self, ask: &Ask, _now: Timestamp) -> Decided {
        if ask.needs_person {
            return Decided::new(PolicyDecision::AskUser, "needs-person", DecisionSource::DefaultPolicy);
        }
        let items = items(ask);
        // Of equally strict ones the first, so that the name is that of what stands first.
        let strictest = items
            .iter()
            .map(|item| self.judge(item))
            .reduce(|first, next| if next.verdict > first.verdict { next } else { first });
        let Some(judged) = strictest else {
            return Decided::new(PolicyDecision::AskUser, "nothing-known", DecisionSource::DefaultPolicy);
        };
        let decision = match judged.verdict {
            Verdict::Allow => PolicyDecision::Allow,
            Verdict::Ask => PolicyDecision::AskUser,
            Verdict::Deny => {
                PolicyDecision::Deny { reason: judged.rule.and_then(|rule| rule.reason.clone()) }
            }
        };
        let seconds = judged.rule.and_then(|rule| rule.timeout_seconds).or(self.timeout_seconds);
        let mut decided = Decided::new(decision, judged.name, DecisionSource::DefaultPolicy);
        decided.timeout = seconds.map(Duration::from_secs);
        decided
    }

    fn supports_interaction(&self) -> bool {
        true
    }
}
