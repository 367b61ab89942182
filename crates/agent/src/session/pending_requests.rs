//! Requests that subscribers see as open: each is shown once, and its outcome is reported once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidings_protocol::ui::{
    AnsweredBy, InteractionResolved, PermissionDetails, PermissionRequest, PermissionResolved,
    RequestOutcome, Resolution, UiMessage,
};

use super::Setup;
use super::announce::AnnouncedCalls;
use super::notes::Note;
use crate::fold::{Fold, Input, OpenedRequest, SettledRequest};
use crate::permissions::{Answer, Ask, Emit, Gather};
use crate::questions::Replied;
use crate::request_table::AskKey;

/// The open requests, owned by the event task.
///
/// The registries can settle a request at any time. The outcome is reported from here when the note about it
/// comes, at the end of the turn, or at the end of the session.
pub(super) struct PendingRequests {
    pub(super) setup: Arc<Setup>,
    gather: Gather,
    /// Permission requests, by tool call.
    tools: BTreeMap<String, OpenPermission>,
    /// Questions to the user, by tool call.
    questions: BTreeSet<String>,
    pub(super) announced: AnnouncedCalls,
}

/// A permission request whose outcome was not reported yet.
#[derive(Debug, Default)]
struct OpenPermission {
    batch_id: Option<String>,
    /// The deadline, in milliseconds since the Unix epoch.
    deadline_ms: Option<i64>,
}

impl PendingRequests {
    pub(super) fn new(setup: Arc<Setup>) -> Self {
        PendingRequests {
            setup,
            gather: Gather::default(),
            tools: BTreeMap::new(),
            questions: BTreeSet::new(),
            announced: AnnouncedCalls::default(),
        }
    }

    /// Reports a note about a request as events. Other notes are ignored.
    pub(super) fn apply(&mut self, note: Note, fold: &mut Fold, events: &mut Vec<UiMessage>) {
        let settled = match note {
            Note::Opened(ask, deadline_ms) => {
                if let Some(asked) = self.opened(ask, deadline_ms) {
                    fold.step(Input::RequestOpened(&asked), events);
                }
                None
            }
            Note::Questioned(asked) => {
                self.questioned(&asked);
                fold.step(Input::RequestOpened(&asked), events);
                None
            }
            Note::Plan(call, reply) => {
                // The receiver may be gone.
                drop(reply.send(fold.plan_of(&call).map(str::to_owned)));
                None
            }
            Note::Decided(key, outcome) => Some(self.decided(&key, &outcome)),
            Note::Settled(key, outcome) => self.settled(&key, &outcome),
            Note::Declined(key, outcome) => Some(questions_settled(&key, &outcome)),
            Note::Answered(key, outcome) => self.answered(&key, &outcome),
            Note::Prompt(_) | Note::Done(_) => None,
        };
        if let Some(settled) = settled {
            fold.step(Input::RequestSettled(&settled), events);
        }
    }

    /// Records an open permission request. It is shown soon, unless it was announced before the agent asked,
    /// or is shown with the others of its message.
    pub(super) fn opened(&mut self, ask: Arc<Ask>, deadline_ms: Option<i64>) -> Option<OpenedRequest> {
        let is_early = self.is_early(&ask);
        let batch = if is_early { None } else { self.announce() };
        if !self.has(&ask.key) {
            self.tools.insert(ask.key.tool_use_id.clone(), OpenPermission { batch_id: None, deadline_ms });
            if is_early {
                self.postpone(ask);
            } else {
                self.gather(ask);
            }
        }
        batch
    }

    /// Records an open permission request that was shown before this session was adopted.
    pub(super) fn reopened(&mut self, key: &AskKey, deadline_ms: Option<i64>) {
        self.tools.entry(key.tool_use_id.clone()).or_insert(OpenPermission { batch_id: None, deadline_ms });
    }

    /// Queues a request, to be shown with those that open at the same time.
    pub(super) fn gather(&mut self, ask: Arc<Ask>) {
        self.gather.opened(ask);
    }

    /// True if a request was shown in a batch.
    pub(super) fn is_in_batch(&self, key: &AskKey) -> bool {
        self.tools.get(&key.tool_use_id).is_some_and(|tool| tool.batch_id.is_some())
    }

    /// True if a permission request is recorded as open.
    pub(super) fn has(&self, key: &AskKey) -> bool {
        self.tools.contains_key(&key.tool_use_id)
    }

    /// True if requests are queued to be shown.
    pub(super) fn is_gathering(&self) -> bool {
        !self.gather.is_empty()
    }

    /// The next request or batch to show; call it until it returns `None`.
    pub(super) fn next_to_show(&mut self) -> Option<OpenedRequest> {
        Some(match self.gather.show()? {
            Emit::Single(ask) => self.single(&ask),
            Emit::Batch(asks) => self.open_batch(asks),
        })
    }

    /// Groups open requests into a batch.
    pub(super) fn open_batch(&mut self, asks: Vec<Arc<Ask>>) -> OpenedRequest {
        let batch_id = self.setup.ids.next();
        self.setup.permissions.add_batch(&batch_id, &asks);
        let mut requests = Vec::new();
        for ask in asks {
            self.tools.entry(ask.key.tool_use_id.clone()).or_default().batch_id = Some(batch_id.clone());
            requests.push(self.described(&ask));
        }
        OpenedRequest::Batch { batch_id, requests }
    }

    fn single(&self, ask: &Ask) -> OpenedRequest {
        let (request, details) = self.described(ask);
        OpenedRequest::Permission { request, details }
    }

    fn described(&self, ask: &Ask) -> (PermissionRequest, PermissionDetails) {
        let input = ask.input.raw().value().unwrap_or_default();
        let AskKey { session_id, tool_use_id } = &ask.key;
        let mut details = PermissionDetails::new(
            *session_id,
            tool_use_id.as_str(),
            ask.tool_name.as_str(),
            input,
            ask.risk,
        );
        if let Some(tool) = self.tools.get(tool_use_id) {
            details.batch_id.clone_from(&tool.batch_id);
            details.deadline_ms = tool.deadline_ms;
        }
        details.digest = Some(ask.digest.to_string());
        details.agent_id.clone_from(&ask.agent_id);
        details.blocked_path.clone_from(&ask.blocked_path);
        details.decision_reason.clone_from(&ask.request.reason);
        details.description.clone_from(&ask.model_says);
        if ask.can_be_always {
            details.suggestions = serde_json::to_value(ask.always_updates()).ok();
        }
        (ask.request.clone(), details)
    }

    /// Reports a request that was settled as soon as it opened.
    pub(super) fn decided(&mut self, key: &AskKey, outcome: &RequestOutcome<Answer>) -> SettledRequest {
        let tool = self.tools.remove(&key.tool_use_id);
        self.gather.settled(key);
        self.forget(key);
        SettledRequest::Permission(permission(key, outcome, tool.and_then(|tool| tool.batch_id)))
    }

    /// Reports the outcome of an open request; `None` if it was reported before.
    pub(super) fn settled(
        &mut self,
        key: &AskKey,
        outcome: &RequestOutcome<Answer>,
    ) -> Option<SettledRequest> {
        self.has(key).then(|| self.decided(key, outcome))
    }

    /// Records open questions to the user.
    pub(super) fn questioned(&mut self, asked: &OpenedRequest) {
        if let OpenedRequest::Questions { details, .. } = asked {
            self.questions.insert(details.tool_use_id.clone());
        }
    }

    /// Reports the outcome of questions to the user; `None` if it was reported before.
    pub(super) fn answered(
        &mut self,
        key: &AskKey,
        outcome: &RequestOutcome<Replied>,
    ) -> Option<SettledRequest> {
        self.questions.remove(&key.tool_use_id).then(|| questions_settled(key, outcome))
    }

    /// Withdraws an open request. If it was answered in the meantime, that answer is reported instead.
    pub(super) fn withdraw(&mut self, key: &AskKey) -> Option<SettledRequest> {
        // This drops an answer that is held for the agent, too.
        drop(self.setup.permissions.cancel(key));
        let outcome = self.setup.permissions.outcome(key).unwrap_or(RequestOutcome::Cancelled);
        self.settled(key, &outcome)
    }

    /// Settles all open requests after the agent has ended, and reports the outcomes that were not reported
    /// yet.
    pub(super) fn disconnect_all(&mut self) -> Vec<SettledRequest> {
        let Setup { handle, permissions, questions, .. } = &*Arc::clone(&self.setup);
        drop(permissions.disconnect_session(*handle));
        drop(questions.disconnect_session(*handle));
        let key = |id: &String| AskKey::new(*handle, id.as_str());
        let tools: Vec<AskKey> = self.tools.keys().map(key).collect();
        let asked: Vec<AskKey> = self.questions.iter().map(key).collect();
        let tools = tools
            .iter()
            .filter_map(|key| self.settled(key, &disconnected_if_cancelled(permissions.outcome(key))));
        let mut settled: Vec<SettledRequest> = tools.collect();
        settled.extend(
            asked
                .iter()
                .filter_map(|key| self.answered(key, &disconnected_if_cancelled(questions.outcome(key)))),
        );
        settled
    }
}

/// The outcome of a request whose agent has ended: a cancelled one counts as disconnected, because the
/// agent's end drops its handler in the same way as a cancellation.
pub(super) fn disconnected_if_cancelled<A>(outcome: Option<RequestOutcome<A>>) -> RequestOutcome<A> {
    match outcome {
        None | Some(RequestOutcome::Cancelled) => RequestOutcome::Disconnected,
        Some(other) => other,
    }
}

fn permission(
    key: &AskKey,
    outcome: &RequestOutcome<Answer>,
    batch_id: Option<String>,
) -> PermissionResolved {
    let resolution = match outcome {
        RequestOutcome::Answered { answer: Answer::Allow(_), .. } => Resolution::Allowed,
        RequestOutcome::Answered { answer: Answer::Deny(_), .. } => Resolution::Denied,
        other => without_answer(other),
    };
    let mut resolved = PermissionResolved::new(key.session_id, key.tool_use_id.as_str(), resolution);
    resolved.batch_id = batch_id;
    if let RequestOutcome::Answered { answer, by } = outcome {
        (resolved.by, resolved.rule) = author(by);
        match answer {
            Answer::Allow(allowed) => {
                resolved.scope = Some(allowed.scope.as_str().to_owned());
                resolved.updated_input =
                    allowed.updated_input.as_ref().and_then(|input| input.raw().value().ok());
            }
            Answer::Deny(denied) => resolved.reason.clone_from(&denied.message),
        }
    }
    resolved
}

/// The event for the outcome of questions to the user.
pub(super) fn questions_settled(key: &AskKey, outcome: &RequestOutcome<Replied>) -> SettledRequest {
    let mut resolved =
        InteractionResolved::new(key.session_id, key.tool_use_id.as_str(), without_answer(outcome));
    if let RequestOutcome::Answered { answer, by } = outcome {
        (resolved.by, resolved.reason) = author(by);
        match answer {
            Replied::Answers(answers) => resolved.answer = serde_json::to_value(answers).ok(),
            Replied::Declined => resolved.outcome = Resolution::Denied,
        }
    }
    SettledRequest::Questions(resolved)
}

/// Resolution of a request that was not answered.
fn without_answer<A>(outcome: &RequestOutcome<A>) -> Resolution {
    match outcome {
        RequestOutcome::Answered { .. } => Resolution::Answered,
        RequestOutcome::TimedOut => Resolution::TimedOut,
        RequestOutcome::Disconnected => Resolution::Disconnected,
        RequestOutcome::Cancelled => Resolution::Cancelled,
        RequestOutcome::Lost => Resolution::Lost,
    }
}

/// Author of an answer, and the rule by which it was given.
fn author(by: &AnsweredBy) -> (Option<String>, Option<String>) {
    match by {
        AnsweredBy::Person(name) => (Some(name.clone()), None),
        AnsweredBy::Rule(rule) => (Some("policy".to_owned()), Some(rule.clone())),
        AnsweredBy::Grant(id) => (Some("grant".to_owned()), Some(id.clone())),
    }
}
