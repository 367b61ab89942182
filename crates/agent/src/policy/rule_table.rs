//! An ordered list of rules; the first match decides.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::matching::{Access, accesses};
use super::{Decided, DecisionSource, FetchSource, PermissionPolicy, PolicyDecision};
use crate::permissions::{Ask, CommandKind, Danger, Reach};

/// An ordered list of rules. The first match decides.
///
/// A command line is decided command by command, and each file that it reads or writes through a redirection
/// counts as an access of its own.
/// The strictest decision wins: one denied access denies the whole line, one that needs the user asks about
/// the whole line.
/// No rule allows a command that is not known before it runs, a call in a session whose folder is not known,
/// a file that runs later (hidden files, build files, hooks), or a line that both fetches and uses something.
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
    /// The verdict if no rule matches.
    #[serde(default)]
    pub otherwise: Verdict,
    /// Default time limit in seconds, for rules without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// The rules.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// A rule: conditions and a verdict. It matches if all of its conditions hold; a rule without conditions
/// matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Rule {
    /// The name of the rule, which is part of every decision that it makes.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The message to the model if the verdict is a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time limit in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Categories of access.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Category>,
    /// Names of tools, with `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Paths with `*`, which also matches `/`. A pattern without `/` must match the last part of the path,
    /// and `/a/*` also matches `/a`. A rule that allows must match the path to which symbolic links lead, and
    /// all operands of a command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The reach of the access.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reaches: Vec<Reach>,
    /// Hosts with `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Places that a command on the network fetches from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<FetchSource>,
    /// Commands word by word, with `*` in words and, as the last word, for all that follow: `git push *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Short options that must all be present: `rf`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// Words, at least one of them among the arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Kinds of commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<CommandKind>,
    /// Dangers of commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<Danger>,
}

/// A category of access.
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
    /// Data is fetched from the network.
    Network,
    /// Any other tool.
    Tool,
}

/// The verdict of a rule, in order of strictness: the last of several wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The access is allowed.
    Allow,
    /// The user is asked.
    #[default]
    Ask,
    /// The access is denied.
    Deny,
}

impl Rule {
    /// Creates a rule without conditions.
    pub fn new(name: impl Into<String>, verdict: Verdict) -> Self {
        Rule { name: name.into(), verdict, ..Rule::default() }
    }
}

impl RuleTable {
    /// Rules for everyday work: reading is allowed in the session's folder except for secrets, writing needs
    /// the user, destructive commands are denied.
    pub fn standard() -> Self {
        super::standard::table()
    }

    /// The verdict about one access, with its rule.
    fn judge(&self, access: &Access<'_>) -> RuleVerdict<'_> {
        let rule = self.rules.iter().find(|rule| access.matches(rule));
        let (verdict, name) = rule.map_or((self.otherwise, "otherwise"), |rule| (rule.verdict, &rule.name));
        let mut judged = RuleVerdict { verdict, name, rule };
        if verdict == Verdict::Allow
            && let Some(objection) = access.objection()
        {
            judged.verdict = Verdict::Ask;
            judged.name = objection.name();
        }
        judged
    }
}

struct RuleVerdict<'a> {
    verdict: Verdict,
    name: &'a str,
    rule: Option<&'a Rule>,
}

impl PermissionPolicy for RuleTable {
    fn decide(&self, ask: &Ask, _now: Timestamp) -> Decided {
        if ask.needs_person {
            return Decided::new(PolicyDecision::AskUser, "needs-person", DecisionSource::DefaultPolicy);
        }
        let accesses = accesses(ask);
        // Among equally strict ones the first wins, so that the decision names the first access.
        let strictest = accesses
            .iter()
            .map(|access| self.judge(access))
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
