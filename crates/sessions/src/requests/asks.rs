//! Requests that wait for a user: how they are stored, listed and logged.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_agent::UiMessage;
use tidings_agent::permissions::{Answer, Digest};
use tidings_api::{PendingPermission, PendingQuestion};
use tidings_journal::limits::BLOB_BYTES_MAX;
use tidings_journal::{AuditDraft, StoredRequest};
use tidings_protocol::ui::{
    AnsweredBy, AskUserQuestionsRequest, InteractionResolved, PermissionDetails, PermissionRequest,
    PermissionResolved, PermissionScope, QuestionDetails, RequestOutcome, Resolution,
};

use crate::limits::AUDIT_RULE_CHARS;
use crate::live_session::LiveSession;

/// The body of an ask's row: everything that a user needs to decide.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum AskBody {
    Permission { request: Option<PermissionRequest>, details: PermissionDetails },
    Question { request: AskUserQuestionsRequest, details: QuestionDetails, plan: Option<String> },
}

pub(crate) fn ask_of(
    event: &UiMessage,
    rest: &[UiMessage],
    before: &[UiMessage],
) -> Option<(String, AskBody)> {
    match event {
        UiMessage::PermissionDetails(details) => {
            let request = rest.iter().find_map(|event| match event {
                UiMessage::PermissionRequired { tool_use_id, request, .. } => {
                    (*tool_use_id == details.tool_use_id).then(|| request.clone())
                }
                _ => None,
            });
            let request = request.or_else(|| of_batch(details, rest, before));
            let body = AskBody::Permission { request, details: details.clone() };
            Some((details.tool_use_id.clone(), body))
        }
        UiMessage::QuestionDetails(details) => {
            let request = rest.iter().find_map(|event| match event {
                UiMessage::UserInteractionRequired { tool_use_id, request, .. } => {
                    (*tool_use_id == details.tool_use_id).then(|| request.clone())
                }
                _ => None,
            })?;
            let plan = before.iter().find_map(|event| match event {
                UiMessage::PlanProposed(plan) if plan.tool_use_id == details.tool_use_id => {
                    Some(plan.plan.clone())
                }
                _ => None,
            });
            let body = AskBody::Question { request, details: details.clone(), plan };
            Some((details.tool_use_id.clone(), body))
        }
        _ => None,
    }
}

/// The requests of a batch come after its details, in the same order.
fn of_batch(
    details: &PermissionDetails,
    rest: &[UiMessage],
    before: &[UiMessage],
) -> Option<PermissionRequest> {
    let batch = details.batch_id.as_ref()?;
    let requests = rest.iter().find_map(|event| match event {
        UiMessage::BatchPermissionRequired { batch_id, requests, .. } if batch_id == batch => Some(requests),
        _ => None,
    })?;
    let is_of_it = |event: &&UiMessage| matches!(event, UiMessage::PermissionDetails(other) if other.batch_id.as_ref() == Some(batch));
    requests.get(before.iter().filter(is_of_it).count()).cloned()
}

/// The body of an ask as JSON. Its length is limited; a longer input is in the event only.
pub(crate) fn ask_body_json(body: &AskBody) -> Arc<[u8]> {
    let bytes = serde_json::to_vec(body).unwrap_or_default();
    if bytes.len() <= BLOB_BYTES_MAX {
        return bytes.into();
    }
    let AskBody::Permission { request, details } = body else { return Arc::from([]) };
    let mut details = details.clone();
    details.input = serde_json::json!({ "too_long_to_list_bytes": bytes.len() });
    let short = AskBody::Permission { request: request.clone(), details };
    serde_json::to_vec(&short).unwrap_or_default().into()
}

/// An ask as it is listed.
pub(crate) enum PendingRequest {
    Permission(PendingPermission),
    Question(PendingQuestion),
}

pub(crate) fn pending_request(ask: &StoredRequest, handle: i64) -> Option<PendingRequest> {
    let (session, tool_use_id) = (ask.session.to_string(), ask.id.to_string());
    let (cursor, opened_at) = (ask.opened.to_string(), ask.opened_at.to_string());
    Some(match serde_json::from_slice(&ask.body).ok()? {
        AskBody::Permission { request, details } => PendingRequest::Permission(PendingPermission {
            session,
            handle,
            tool_use_id,
            cursor,
            opened_at,
            request,
            details,
        }),
        AskBody::Question { request, details, plan } => PendingRequest::Question(PendingQuestion {
            session,
            handle,
            tool_use_id,
            cursor,
            opened_at,
            request,
            details,
            plan,
        }),
    })
}

/// Marks a request as lost if its agent ended unexpectedly.
pub(crate) fn mark_lost(event: &mut UiMessage) {
    let outcome = match event {
        UiMessage::PermissionResolved(resolved) => &mut resolved.outcome,
        UiMessage::InteractionResolved(resolved) => &mut resolved.outcome,
        _ => return,
    };
    if *outcome == Resolution::Disconnected {
        *outcome = Resolution::Lost;
    }
}

/// Names the client whose interrupt made the agent withdraw a request.
pub(crate) fn mark_interrupted(event: &mut UiMessage, by: &str) {
    let (outcome, author) = match event {
        UiMessage::PermissionResolved(resolved) => (resolved.outcome, &mut resolved.by),
        UiMessage::InteractionResolved(resolved) => (resolved.outcome, &mut resolved.by),
        _ => return,
    };
    if outcome == Resolution::Cancelled {
        author.get_or_insert_with(|| by.to_owned());
    }
}

pub(crate) fn resolution(event: &UiMessage) -> Resolution {
    match event {
        UiMessage::PermissionResolved(resolved) => resolved.outcome,
        UiMessage::InteractionResolved(resolved) => resolved.outcome,
        _ => Resolution::Lost,
    }
}

/// The outcome of an ask, as the journal stores it.
pub(crate) fn resolved(event: &UiMessage) -> Option<(String, RequestOutcome<String>)> {
    let (id, outcome, by, rule) = match event {
        UiMessage::PermissionResolved(PermissionResolved { tool_use_id, outcome, by, rule, .. }) => {
            (tool_use_id, *outcome, by, rule)
        }
        UiMessage::InteractionResolved(InteractionResolved { tool_use_id, outcome, by, reason, .. }) => {
            (tool_use_id, *outcome, by, reason)
        }
        _ => return None,
    };
    let outcome = match outcome {
        Resolution::TimedOut => RequestOutcome::TimedOut,
        Resolution::Disconnected => RequestOutcome::Disconnected,
        Resolution::Cancelled => RequestOutcome::Cancelled,
        Resolution::Lost => RequestOutcome::Lost,
        answered => RequestOutcome::Answered {
            answer: outcome_name(answered).to_owned(),
            by: match (by.as_deref(), rule) {
                (Some("policy"), Some(rule)) => AnsweredBy::Rule(rule.clone()),
                (Some("grant"), Some(id)) => AnsweredBy::Grant(id.clone()),
                (by, _) => AnsweredBy::Person(by.unwrap_or("somebody").to_owned()),
            },
        },
    };
    Some((id.clone(), outcome))
}

/// The outcome of an ask, in one word.
pub fn outcome_name(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Allowed => "allowed",
        Resolution::Denied => "denied",
        Resolution::Answered => "answered",
        Resolution::TimedOut => "timed_out",
        Resolution::Disconnected => "disconnected",
        Resolution::Cancelled => "cancelled",
        _ => "lost",
    }
}

/// The line of the audit log about the outcome of an ask. The journal adds the digest and the latency.
pub(crate) fn audit(entry: &LiveSession, id: &str, event: &UiMessage, device: Option<&str>) -> AuditDraft {
    let (by, rule, scope) = match event {
        UiMessage::PermissionResolved(resolved) => {
            (resolved.by.clone(), resolved.rule.clone(), resolved.scope.clone())
        }
        UiMessage::InteractionResolved(resolved) => (resolved.by.clone(), None, None),
        _ => (None, None, None),
    };
    let resolution = resolution(event);
    let cause = if resolution == Resolution::TimedOut { "limit" } else { "the agent" };
    let who = by.unwrap_or_else(|| cause.to_owned());
    AuditDraft {
        device: device.map(str::to_owned),
        session: Some(entry.key.to_string()),
        ask: Some(id.to_owned()),
        rule,
        scope,
        digest: entry.judged.digest_of(id),
        ..AuditDraft::new(entry.clock.now(), who, outcome_name(resolution))
    }
}

/// Effects of a user's approval beyond the request.
#[derive(Debug, Default)]
pub(crate) struct ApprovalEffects {
    /// The rules that it adds.
    pub(crate) rules: Option<String>,
    /// The digest of the input that runs in place of the requested one.
    pub(crate) changed: Option<String>,
}

impl ApprovalEffects {
    pub(crate) fn of(answer: &Answer, details: &PermissionDetails) -> Self {
        let Answer::Allow(allowed) = answer else { return ApprovalEffects::default() };
        let suggested = details.suggestions.as_ref().filter(|_| allowed.scope == PermissionScope::Always);
        let changed = allowed.updated_input.as_ref();
        ApprovalEffects {
            rules: suggested.and_then(rules),
            changed: changed.map(|input| Digest::of(&details.tool_name, input.raw()).to_string()),
        }
    }
}

/// The rules of updates in the notation of settings files: `Bash(make test)`, up to a limit.
fn rules(updates: &Value) -> Option<String> {
    let added = updates.as_array()?.iter().filter(|update| update["type"] == "addRules");
    let rules = added.flat_map(|update| update["rules"].as_array().into_iter().flatten());
    let text = |rule: &Value| {
        let tool = rule["toolName"].as_str()?;
        let content = rule["ruleContent"].as_str();
        Some(content.map_or_else(|| tool.to_owned(), |content| format!("{tool}({content})")))
    };
    let all: Vec<String> = rules.filter_map(text).collect();
    (!all.is_empty()).then(|| all.join(", ").chars().take(AUDIT_RULE_CHARS).collect())
}
