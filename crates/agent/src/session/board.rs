//! Which questions are open for those who watch: each is shown once, and its end is told once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidings_protocol::ui::{
    InteractionResolved, PermissionDetails, PermissionRequest, PermissionResolved, Resolution,
};

use super::Setup;
use super::announce::Announced;
use crate::desk::AskKey;
use crate::fold::{Asked, Settled};
use crate::pending::{Outcome, Who};
use crate::permissions::{Answer, Ask, Emit, Gather};
use crate::questions::Replied;

/// The task that makes events keeps this, so nothing in it can change behind its back. The registries can: what they
/// have settled is told here when the note of it comes, at the end of the turn, or at the end of the session.
pub(super) struct Board {
    pub(super) setup: Arc<Setup>,
    gather: Gather,
    /// Questions about tools, by the call.
    tools: BTreeMap<String, Tool>,
    /// Questions to the person, by the call.
    questions: BTreeSet<String>,
    pub(super) announced: Announced,
}

/// A question about a tool whose end was not told yet.
#[derive(Debug, Default)]
struct Tool {
    batch_id: Option<String>,
    /// When it is settled without an answer.
    deadline_ms: Option<i64>,
}

impl Board {
    pub(super) fn new(setup: Arc<Setup>) -> Self {
        Board {
            setup,
            gather: Gather::default(),
            tools: BTreeMap::new(),
            questions: BTreeSet::new(),
            announced: Announced::default(),
        }
    }

    /// A question about a tool is open. It is shown soon, unless it was shown before the agent asked, or is shown with the
    /// others of its message.
    pub(super) fn opened(&mut self, ask: Arc<Ask>, deadline_ms: Option<i64>) -> Option<Asked> {
        let is_early = self.is_early(&ask);
        let batch = if is_early { None } else { self.announce() };
        if !self.has(&ask.key) {
            self.tools.insert(ask.key.tool_use_id.clone(), Tool { batch_id: None, deadline_ms });
            if is_early {
                self.postpone(ask);
            } else {
                self.gather(ask);
            }
        }
        batch
    }

    /// A question about a tool is open that was shown before this session was joined.
    pub(super) fn reopened(&mut self, key: &AskKey, deadline_ms: Option<i64>) {
        self.tools.entry(key.tool_use_id.clone()).or_insert(Tool { batch_id: None, deadline_ms });
    }

    /// Shows a question with those that open at the same time.
    pub(super) fn gather(&mut self, ask: Arc<Ask>) {
        self.gather.opened(ask);
    }

    /// Whether a question was shown in a batch.
    pub(super) fn is_in_batch(&self, key: &AskKey) -> bool {
        self.tools.get(&key.tool_use_id).is_some_and(|tool| tool.batch_id.is_some())
    }

    /// Whether a question about a tool is on the board.
    pub(super) fn has(&self, key: &AskKey) -> bool {
        self.tools.contains_key(&key.tool_use_id)
    }

    /// Whether something waits to be shown.
    pub(super) fn gathers(&self) -> bool {
        !self.gather.is_empty()
    }

    /// What is to be shown next; call it until there is nothing.
    pub(super) fn show(&mut self) -> Option<Asked> {
        Some(match self.gather.show()? {
            Emit::Single(ask) => self.one(&ask),
            Emit::Batch(asks) => self.together(asks),
        })
    }

    /// Questions that are open, as a batch.
    pub(super) fn together(&mut self, asks: Vec<Arc<Ask>>) -> Asked {
        let batch_id = self.setup.ids.next();
        self.setup.permissions.tie(&batch_id, &asks);
        let mut requests = Vec::new();
        for ask in asks {
            self.tools.entry(ask.key.tool_use_id.clone()).or_default().batch_id = Some(batch_id.clone());
            requests.push(self.described(&ask));
        }
        Asked::Batch { batch_id, requests }
    }

    fn one(&self, ask: &Ask) -> Asked {
        let (request, details) = self.described(ask);
        Asked::Permission { request, details }
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

    /// A question was settled as soon as it was asked.
    pub(super) fn decided(&mut self, key: &AskKey, outcome: &Outcome<Answer>) -> Settled {
        let tool = self.tools.remove(&key.tool_use_id);
        self.gather.settled(key);
        self.forget(key);
        Settled::Permission(permission(key, outcome, tool.and_then(|tool| tool.batch_id)))
    }

    /// A question that was open is settled; nothing if that was told before.
    pub(super) fn settled(&mut self, key: &AskKey, outcome: &Outcome<Answer>) -> Option<Settled> {
        self.has(key).then(|| self.decided(key, outcome))
    }

    /// Questions to the person are open.
    pub(super) fn questioned(&mut self, asked: &Asked) {
        if let Asked::Questions { details, .. } = asked {
            self.questions.insert(details.tool_use_id.clone());
        }
    }

    /// Questions to the person are settled; nothing if that was told before.
    pub(super) fn answered(&mut self, key: &AskKey, outcome: &Outcome<Replied>) -> Option<Settled> {
        self.questions.remove(&key.tool_use_id).then(|| declined(key, outcome))
    }

    /// Takes a question back that is on the board; whoever was faster is told instead.
    pub(super) fn take_back(&mut self, key: &AskKey) -> Option<Settled> {
        // An answer that is held for the agent goes with it.
        drop(self.setup.permissions.cancel(key));
        let outcome = self.setup.permissions.outcome(key).unwrap_or(Outcome::Cancelled);
        self.settled(key, &outcome)
    }

    /// The agent is gone, and with it whoever asked. How each question ended is told, if it was not yet.
    pub(super) fn end(&mut self) -> Vec<Settled> {
        let Setup { handle, permissions, questions, .. } = &*Arc::clone(&self.setup);
        drop(permissions.disconnect_session(*handle));
        drop(questions.disconnect_session(*handle));
        let key = |id: &String| AskKey::new(*handle, id.as_str());
        let tools: Vec<AskKey> = self.tools.keys().map(key).collect();
        let asked: Vec<AskKey> = self.questions.iter().map(key).collect();
        let tools =
            tools.iter().filter_map(|key| self.settled(key, &with_the_agent(permissions.outcome(key))));
        let mut settled: Vec<Settled> = tools.collect();
        settled.extend(
            asked.iter().filter_map(|key| self.answered(key, &with_the_agent(questions.outcome(key)))),
        );
        settled
    }
}

/// How a question ended whose agent is gone. If nobody was faster it ended with the agent, which looks as if that had taken it back.
pub(super) fn with_the_agent<A>(outcome: Option<Outcome<A>>) -> Outcome<A> {
    match outcome {
        None | Some(Outcome::Cancelled) => Outcome::Disconnected,
        Some(other) => other,
    }
}

fn permission(key: &AskKey, outcome: &Outcome<Answer>, batch_id: Option<String>) -> PermissionResolved {
    let resolution = match outcome {
        Outcome::Answered { answer: Answer::Allow(_), .. } => Resolution::Allowed,
        Outcome::Answered { answer: Answer::Deny(_), .. } => Resolution::Denied,
        other => without_answer(other),
    };
    let mut resolved = PermissionResolved::new(key.session_id, key.tool_use_id.as_str(), resolution);
    resolved.batch_id = batch_id;
    if let Outcome::Answered { answer, by } = outcome {
        (resolved.by, resolved.rule) = who(by);
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

/// How questions to the person ended.
pub(super) fn declined(key: &AskKey, outcome: &Outcome<Replied>) -> Settled {
    let mut resolved =
        InteractionResolved::new(key.session_id, key.tool_use_id.as_str(), without_answer(outcome));
    if let Outcome::Answered { answer, by } = outcome {
        (resolved.by, resolved.reason) = who(by);
        match answer {
            Replied::Answers(answers) => resolved.answer = serde_json::to_value(answers).ok(),
            Replied::Declined => resolved.outcome = Resolution::Denied,
        }
    }
    Settled::Questions(resolved)
}

/// How a question ended that nobody answered.
fn without_answer<A>(outcome: &Outcome<A>) -> Resolution {
    match outcome {
        Outcome::Answered { .. } => Resolution::Answered,
        Outcome::TimedOut => Resolution::TimedOut,
        Outcome::Disconnected => Resolution::Disconnected,
        Outcome::Cancelled => Resolution::Cancelled,
        Outcome::Lost => Resolution::Lost,
    }
}

/// Who answered, and by which rule.
fn who(by: &Who) -> (Option<String>, Option<String>) {
    match by {
        Who::Person(name) => (Some(name.clone()), None),
        Who::Rule(rule) => (Some("policy".to_owned()), Some(rule.clone())),
        Who::Grant(id) => (Some("grant".to_owned()), Some(id.clone())),
    }
}
