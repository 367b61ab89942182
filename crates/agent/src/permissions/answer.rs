//! What somebody says to a question, and what the CLI is told.

use serde::{Deserialize, Serialize};
use tidings::Decision;
use tidings_protocol::json::Json;
use tidings_protocol::permissions::{Allow, DecisionClassification, Deny, PermissionUpdate};

use super::Ask;
use crate::pending::{Outcome, Who};

/// How far a yes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call.
    #[default]
    Once,
    /// This call and those that the same grant covers, until the session ends.
    Session,
    /// This call and those that a rule in the settings covers.
    Always,
}

/// What becomes of the turn after a no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterDenial {
    /// The model hears why, and goes on.
    #[default]
    GoOn,
    /// The turn ends.
    Stop,
}

/// Yes or no.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub enum Answer {
    /// The tool may run.
    Allow(Allowed),
    /// It may not.
    Deny(Denied),
}

/// A yes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Allowed {
    /// How far it reaches.
    pub scope: Scope,
    /// What the tool gets instead of what the model asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Json>,
    /// The rules that come with it. Left empty, "always" adds those of [`Ask::always_updates`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<PermissionUpdate>,
}

/// A no.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Denied {
    /// What the model is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What becomes of the turn.
    pub then: AfterDenial,
}

impl Scope {
    /// One word, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Once => "once",
            Scope::Session => "session",
            Scope::Always => "always",
        }
    }
}

impl Answer {
    /// Yes, this once.
    pub fn allow() -> Self {
        Answer::Allow(Allowed::default())
    }

    /// Yes, and as far as `scope` says.
    pub fn allow_for(scope: Scope) -> Self {
        Answer::Allow(Allowed { scope, ..Allowed::default() })
    }

    /// Yes, with another input.
    pub fn allow_with(input: Json) -> Self {
        Answer::Allow(Allowed { updated_input: Some(input), ..Allowed::default() })
    }

    /// No, and the model is told why.
    pub fn deny(message: impl Into<String>) -> Self {
        Answer::Deny(Denied { message: Some(message.into()), ..Denied::default() })
    }

    /// Whether it is a yes.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Answer::Allow(_))
    }
}

/// What the CLI is told of an outcome. Everything but a yes is a refusal, and the model is told which one: nobody's
/// silence is told as somebody's no.
///
/// ```
/// use tidings::Decision;
/// use tidings_agent::pending::Outcome;
/// use tidings_agent::permissions::{Ask, decision};
/// use tidings_protocol::control::CanUseTool;
///
/// let ask = Ask::new(1, "r", &CanUseTool::new("Bash", serde_json::json!({"command": "make"}).into(), "toolu_1"), None);
/// let Decision::Deny(deny) = decision(&ask, &Outcome::TimedOut) else { unreachable!() };
/// assert_eq!(deny.message, "Nobody answered in time whether `Bash` may run; nobody has refused it");
/// ```
pub fn decision(ask: &Ask, outcome: &Outcome<Answer>) -> Decision {
    let tool = &ask.tool_name;
    match outcome {
        Outcome::Answered { answer: Answer::Allow(allowed), by } => {
            let mut allow = Allow::default();
            allow.updated_input = Some(allowed.updated_input.clone().unwrap_or_else(|| ask.input.clone()));
            if !allowed.updates.is_empty() {
                allow.updated_permissions = Some(allowed.updates.clone());
            }
            if matches!(by, Who::Person(_)) {
                allow.decision_classification = Some(match allowed.scope {
                    Scope::Always => DecisionClassification::USER_PERMANENT,
                    Scope::Once | Scope::Session => DecisionClassification::USER_TEMPORARY,
                });
            }
            Decision::Allow(allow)
        }
        Outcome::Answered { answer: Answer::Deny(denied), by } => {
            let mut deny = Deny::default();
            deny.message = denied.message.clone().unwrap_or_else(|| match by {
                Who::Person(_) => format!("The user denied this call of `{tool}`, without giving a reason"),
                Who::Rule(rule) => format!("The rule `{rule}` denied this call of `{tool}`"),
                Who::Grant(_) => format!("This call of `{tool}` is not allowed"),
            });
            if denied.then == AfterDenial::Stop {
                deny.interrupt = Some(true);
            }
            if matches!(by, Who::Person(_)) {
                deny.decision_classification = Some(DecisionClassification::USER_REJECT);
            }
            Decision::Deny(deny)
        }
        Outcome::TimedOut => {
            Decision::deny(format!("Nobody answered in time whether `{tool}` may run; nobody has refused it"))
        }
        Outcome::Disconnected => Decision::deny(format!(
            "The question whether `{tool}` may run lost its connection; nobody has refused it"
        )),
        Outcome::Cancelled => Decision::deny(format!("The question whether `{tool}` may run was taken back")),
        Outcome::Lost => Decision::deny(format!(
            "The program ended while it was open whether `{tool}` may run; nobody has refused it"
        )),
    }
}
