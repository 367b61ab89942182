//! Who answers before a person is asked, or when there is none.
//!
//! A [`PermissionPolicy`] sees each question first. [`AutoApprove`], [`DenyAll`] and [`Interactive`] always say the same;
//! a [`RuleTable`] goes by the tool, the path, the host and the parsed command; [`Unattended`] goes by the risk and by
//! what was decided lately. [`Then`] puts one behind the other. Every decision names the rule that made it.

mod matching;
mod rule_table;
mod simple;
mod standard;
mod unattended;

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

pub use rule_table::{Category, Rule, RuleTable, Verdict};
pub use simple::{AutoApprove, DenyAll, Interactive, Then};
pub use unattended::{Keep, TimeoutAction, Unattended};

use crate::pending::{Outcome, Who};
use crate::permissions::{Answer, Ask, Denied, Grant};

/// Decides about questions before a person sees them.
///
/// ```
/// use jiff::Timestamp;
/// use tidings_agent::permissions::Ask;
/// use tidings_agent::policy::{Decided, DecisionSource, PermissionPolicy, PolicyDecision};
///
/// /// Lets everything be read.
/// struct Readers;
///
/// impl PermissionPolicy for Readers {
///     fn decide(&self, ask: &Ask, _now: Timestamp) -> Decided {
///         let decision = match ask.tool_name.as_str() {
///             "Read" | "Grep" | "Glob" => PolicyDecision::Allow,
///             _ => PolicyDecision::AskUser,
///         };
///         Decided::new(decision, "readers", DecisionSource::DefaultPolicy)
///     }
///
///     fn supports_interaction(&self) -> bool {
///         true
///     }
/// }
/// ```
pub trait PermissionPolicy: Send + Sync {
    /// Decides about one question. It is called on the session's own task, so it must not wait.
    fn decide(&self, ask: &Ask, now: Timestamp) -> Decided;

    /// Whether somebody can be asked. Where nobody can, questions to the user are declined at once.
    fn supports_interaction(&self) -> bool;
}

/// What a policy says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyDecision {
    /// The tool runs.
    Allow,
    /// The tool runs, and the session gets a grant.
    AllowWithGrant(Grant),
    /// The tool does not run.
    Deny {
        /// What the model is told.
        reason: Option<String>,
    },
    /// Somebody has to be asked.
    AskUser,
}

/// A decision, and what made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decided {
    /// What was decided.
    pub decision: PolicyDecision,
    /// The rule that decided.
    pub rule: String,
    /// Where the decision comes from.
    pub source: DecisionSource,
    /// How long the rule wants to wait: for the answer where somebody is asked, for the tool where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// Where a decision comes from, for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum DecisionSource {
    /// A person decided.
    UserDecision,
    /// A rule decided.
    DefaultPolicy,
    /// Somebody decided about the same thing before.
    CachedDecision,
    /// The risk decided.
    RiskBased,
    /// Nobody answered in time.
    TimeoutDefault,
}

impl Decided {
    /// A decision by the rule of that name.
    pub fn new(decision: PolicyDecision, rule: impl Into<String>, source: DecisionSource) -> Self {
        Decided { decision, rule: rule.into(), source, timeout: None }
    }

    /// The decision as the end of a question; nothing if somebody has to be asked. A grant is for the caller to give.
    pub fn outcome(&self) -> Option<Outcome<Answer>> {
        let answer = match &self.decision {
            PolicyDecision::Allow | PolicyDecision::AllowWithGrant(_) => Answer::allow(),
            PolicyDecision::Deny { reason } => {
                let mut denied = Denied::default();
                denied.message.clone_from(reason);
                Answer::Deny(denied)
            }
            PolicyDecision::AskUser => return None,
        };
        Some(Outcome::by_rule(answer, self.rule.as_str()))
    }
}

impl DecisionSource {
    /// Where the answer to a question came from; a question without an answer was decided by its time-out.
    pub fn of(outcome: &Outcome<Answer>) -> Self {
        match outcome {
            Outcome::Answered { by: Who::Person(_), .. } => DecisionSource::UserDecision,
            Outcome::Answered { by: Who::Grant(_), .. } => DecisionSource::CachedDecision,
            Outcome::Answered { .. } => DecisionSource::DefaultPolicy,
            Outcome::TimedOut | Outcome::Disconnected | Outcome::Cancelled | Outcome::Lost => {
                DecisionSource::TimeoutDefault
            }
        }
    }
}
