//! The way a permission request or a question ended.

use serde::{Deserialize, Serialize};

/// The way a request ended.
///
/// Only [`RequestOutcome::Answered`] is a decision. A time-out is never reported as a refusal by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum RequestOutcome<A> {
    /// A user, a rule or a grant answered.
    Answered {
        /// The answer.
        answer: A,
        /// The author of the first answer.
        by: AnsweredBy,
    },
    /// No answer came before the deadline.
    TimedOut,
    /// The CLI that asked is gone. A front end that disconnects settles nothing.
    Disconnected,
    /// The CLI withdrew the request, or the turn ended.
    Cancelled,
    /// The request was open when the program ended, and its outcome is unknown.
    Lost,
}

/// The author of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A user, by the name of the front end or account.
    Person(String),
    /// A rule of a policy, by its name.
    Rule(String),
    /// A grant that a user gave earlier, by its id.
    Grant(String),
}

impl<A> RequestOutcome<A> {
    /// An answer by a user.
    pub fn by_person(answer: A, name: impl Into<String>) -> Self {
        RequestOutcome::Answered { answer, by: AnsweredBy::Person(name.into()) }
    }

    /// An answer by a rule.
    pub fn by_rule(answer: A, rule: impl Into<String>) -> Self {
        RequestOutcome::Answered { answer, by: AnsweredBy::Rule(rule.into()) }
    }

    /// The answer, if there is one.
    pub fn answer(&self) -> Option<&A> {
        match self {
            RequestOutcome::Answered { answer, .. } => Some(answer),
            RequestOutcome::TimedOut
            | RequestOutcome::Disconnected
            | RequestOutcome::Cancelled
            | RequestOutcome::Lost => None,
        }
    }

    /// True if a user, a rule or a grant answered.
    pub fn is_answered(&self) -> bool {
        matches!(self, RequestOutcome::Answered { .. })
    }
}
