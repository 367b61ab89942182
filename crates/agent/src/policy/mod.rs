//! Policies that answer permission requests before, or instead of, the user.
//!
//! A [`PermissionPolicy`] sees each request first. [`AutoApprove`], [`DenyAll`] and [`Interactive`] always
//! give the same answer;
//! a [`RuleTable`] decides by tool, path, host and parsed command; [`Unattended`] decides by risk and by
//! cached decisions.
//! [`Then`] combines two policies. Every decision names its rule.
//! A policy allows only what it knows: if a fact of the session is missing, or if a protected folder may be
//! touched, the user decides.

mod matching;
mod objections;
mod revisions;
mod rule_table;
mod simple;
mod source;
mod standard;
mod unattended;

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use tidings_protocol::ui::{AnsweredBy, RequestOutcome};

pub use rule_table::{Category, Rule, RuleTable, Verdict};
pub use simple::{AutoApprove, DenyAll, Interactive, Then};
pub use source::FetchSource;
pub use unattended::{CacheLifetime, TimeoutAction, Unattended};

use crate::permissions::{Answer, Ask, Denied, Grant};

/// A policy that decides permission requests before the user sees them.
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
    /// Decides one request. It is called on the session's own task, so it must not block.
    fn decide(&self, ask: &Ask, now: Timestamp) -> Decided;

    /// True if the user can be asked. Otherwise questions to the user are declined immediately.
    fn supports_interaction(&self) -> bool;
}

/// The decision of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PolicyDecision {
    /// The tool runs.
    Allow,
    /// The tool runs, and the session gets a grant.
    AllowWithGrant(Grant),
    /// The tool does not run.
    Deny {
        /// The message to the model.
        reason: Option<String>,
    },
    /// The user decides.
    AskUser,
}

/// A decision, with its rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decided {
    /// The decision.
    pub decision: PolicyDecision,
    /// The rule that decided.
    pub rule: String,
    /// The source of the decision.
    pub source: DecisionSource,
    /// Time limit of the rule: for the answer if the user is asked, for the tool if it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// The source of a decision, for the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum DecisionSource {
    /// The user decided.
    UserDecision,
    /// A rule decided.
    DefaultPolicy,
    /// An earlier decision about the same operation was reused.
    CachedDecision,
    /// The risk level decided.
    RiskBased,
    /// No answer came in time.
    TimeoutDefault,
}

impl Decided {
    /// Creates a decision of the rule with this name.
    pub fn new(decision: PolicyDecision, rule: impl Into<String>, source: DecisionSource) -> Self {
        Decided { decision, rule: rule.into(), source, timeout: None }
    }

    /// The decision as the outcome of a request; `None` if the user decides. Adding a grant is left to the
    /// caller.
    pub fn outcome(&self) -> Option<RequestOutcome<Answer>> {
        let answer = match &self.decision {
            PolicyDecision::Allow | PolicyDecision::AllowWithGrant(_) => Answer::allow(),
            PolicyDecision::Deny { reason } => {
                let mut denied = Denied::default();
                denied.message.clone_from(reason);
                Answer::Deny(denied)
            }
            PolicyDecision::AskUser => return None,
        };
        Some(RequestOutcome::by_rule(answer, self.rule.as_str()))
    }
}

impl DecisionSource {
    /// The source of an outcome; a request without an answer was decided by its time-out.
    pub fn of(outcome: &RequestOutcome<Answer>) -> Self {
        match outcome {
            RequestOutcome::Answered { by: AnsweredBy::Person(_), .. } => DecisionSource::UserDecision,
            RequestOutcome::Answered { by: AnsweredBy::Grant(_), .. } => DecisionSource::CachedDecision,
            RequestOutcome::Answered { .. } => DecisionSource::DefaultPolicy,
            RequestOutcome::TimedOut
            | RequestOutcome::Disconnected
            | RequestOutcome::Cancelled
            | RequestOutcome::Lost => DecisionSource::TimeoutDefault,
        }
    }
}
