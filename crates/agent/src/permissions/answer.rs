//! Answers to permission requests, and decisions for the CLI.

use serde::{Deserialize, Serialize};
use tidings::Decision;
use tidings_protocol::json::Json;
use tidings_protocol::permissions::{Allow, DecisionClassification, Deny, PermissionUpdate};
use tidings_protocol::ui::{AnsweredBy, PermissionScope, RequestOutcome};

use super::Ask;

/// The effect of a denial on the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterDenial {
    /// The model gets the reason, and continues.
    #[default]
    GoOn,
    /// The turn ends.
    Stop,
}

/// An approval or a denial.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
#[non_exhaustive]
pub enum Answer {
    /// The tool may run.
    Allow(Allowed),
    /// The tool may not run.
    Deny(Denied),
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Allowed {
    /// The scope.
    pub scope: PermissionScope,
    /// The input that the tool gets instead of the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Json>,
    /// The rules to add. If empty, "always" adds those of [`Ask::always_updates`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<PermissionUpdate>,
}

/// A denial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Denied {
    /// The message to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The effect on the turn.
    pub then: AfterDenial,
}

impl Answer {
    /// Approves this call.
    pub fn allow() -> Self {
        Answer::Allow(Allowed::default())
    }

    /// Approves with a scope.
    pub fn allow_for(scope: PermissionScope) -> Self {
        Answer::Allow(Allowed { scope, ..Allowed::default() })
    }

    /// Approves with another input.
    pub fn allow_with(input: Json) -> Self {
        Answer::Allow(Allowed { updated_input: Some(input), ..Allowed::default() })
    }

    /// Denies, with a message to the model.
    pub fn deny(message: impl Into<String>) -> Self {
        Answer::Deny(Denied { message: Some(message.into()), ..Denied::default() })
    }

    /// True if it is an approval.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Answer::Allow(_))
    }
}

/// The decision for the CLI that follows from an outcome. Everything but an approval is a denial, and its
/// message names the cause: a missing answer is never reported as a refusal by the user.
///
/// ```
/// use tidings::Decision;
/// use tidings_protocol::ui::RequestOutcome;
/// use tidings_agent::permissions::{Ask, decision};
/// use tidings_protocol::control::CanUseTool;
///
/// let call = CanUseTool::new("Bash", serde_json::json!({"command": "make"}).into(), "toolu_1");
/// let ask = Ask::new(1, "r", &call, &tidings_agent::permissions::SessionFacts::unknown());
/// let Decision::Deny(deny) = decision(&ask, &RequestOutcome::TimedOut) else { unreachable!() };
/// assert_eq!(deny.message, "No decision about `Bash` came in time; this is not a refusal");
/// ```
pub fn decision(ask: &Ask, outcome: &RequestOutcome<Answer>) -> Decision {
    let tool = &ask.tool_name;
    match outcome {
        RequestOutcome::Answered { answer: Answer::Allow(allowed), by } => {
            let mut allow = Allow::default();
            allow.updated_input = Some(allowed.updated_input.clone().unwrap_or_else(|| ask.input.clone()));
            if !allowed.updates.is_empty() {
                allow.updated_permissions = Some(allowed.updates.clone());
            }
            if matches!(by, AnsweredBy::Person(_)) {
                allow.decision_classification = Some(match allowed.scope {
                    PermissionScope::Always => DecisionClassification::USER_PERMANENT,
                    PermissionScope::Once | PermissionScope::Session => {
                        DecisionClassification::USER_TEMPORARY
                    }
                });
            }
            Decision::Allow(allow)
        }
        RequestOutcome::Answered { answer: Answer::Deny(denied), by } => {
            let mut deny = Deny::default();
            deny.message = denied.message.clone().unwrap_or_else(|| match by {
                AnsweredBy::Person(_) => {
                    format!("The user denied this call of `{tool}`, without giving a reason")
                }
                AnsweredBy::Rule(rule) => format!("The rule `{rule}` denied this call of `{tool}`"),
                AnsweredBy::Grant(_) => format!("This call of `{tool}` is not allowed"),
            });
            if denied.then == AfterDenial::Stop {
                deny.interrupt = Some(true);
            }
            if matches!(by, AnsweredBy::Person(_)) {
                deny.decision_classification = Some(DecisionClassification::USER_REJECT);
            }
            Decision::Deny(deny)
        }
        RequestOutcome::TimedOut => {
            Decision::deny(format!("No decision about `{tool}` came in time; this is not a refusal"))
        }
        RequestOutcome::Disconnected => Decision::deny(format!(
            "The connection was lost before a decision about `{tool}` came; this is not a refusal"
        )),
        RequestOutcome::Cancelled => {
            Decision::deny(format!("The permission request for `{tool}` was withdrawn"))
        }
        RequestOutcome::Lost => Decision::deny(format!(
            "The program ended before a decision about `{tool}` came; this is not a refusal"
        )),
    }
}
