//! Settles requests of sessions that all clients have left. A policy that asks only attended sessions decides
//! about them after a while, as it would have if no client had been subscribed; otherwise such a session
//! would wait for ever.

use std::collections::HashMap;
use std::sync::Arc;

use tidings_agent::AskKey;
use tidings_agent::permissions::{Answer, Ask, Response};
use tidings_api::Policy;
use tidings_journal::AskId;
use tidings_protocol::ui::{AnsweredBy, InteractionResolved, PermissionResolved, RequestOutcome, Resolution};
use tokio::time::Instant;

use crate::live_session::LiveSession;
use crate::requests::asks::{PendingRequest, pending_request};
use crate::requests::{policy, stored_answer};
use crate::{Error, Sessions};

/// The rule that declines questions, which have no risk to judge.
const UNATTENDED_RULE: &str = "nobody_watches";

/// Checks for abandoned requests periodically, until the server ends.
pub(crate) fn watch(sessions: &Sessions) {
    let (shared, after) = (Arc::downgrade(&sessions.0), sessions.config().abandoned_after);
    drop(tokio::spawn(async move {
        let mut since = HashMap::new();
        loop {
            tokio::time::sleep(after / 4).await;
            let Some(sessions) = shared.upgrade().map(Sessions) else { return };
            let waiting: Vec<Arc<LiveSession>> = {
                let used = sessions.active();
                let entries = used.values().map(|used| &used.entry);
                entries.filter(|entry| entry.is_abandoned()).map(Arc::clone).collect()
            };
            drop(sessions);
            since.retain(|key, _| waiting.iter().any(|entry| entry.key == *key));
            for entry in waiting {
                let start = *since.entry(entry.key.clone()).or_insert_with(Instant::now);
                if start.elapsed() >= after {
                    entry.decide_abandoned().await;
                }
            }
        }
    }));
}

impl LiveSession {
    /// True if a request is open, no client that could answer is subscribed, and the policy can decide
    /// without.
    fn is_abandoned(&self) -> bool {
        let waits = {
            let memory = self.memory();
            let is_open = !memory.permissions.is_empty() || !memory.questions.is_empty();
            is_open && memory.settings.launch.policy == Policy::Unattended
        };
        waits && !self.broadcast.is_attended(&self.key)
    }

    async fn decide_abandoned(&self) {
        let policy = policy::policy(Policy::Unattended, &self.broadcast, &self.key, &self.judged);
        for ask in self.permissions.pending_for_session(self.handle) {
            // A client may have subscribed just now; then the request stays open.
            let decided = policy.decide(&ask, self.clock.now()).outcome();
            if let Some(RequestOutcome::Answered { answer, by: AnsweredBy::Rule(rule) }) = decided
                && let Err(error) = self.answer_by_rule(&ask, answer, rule).await
            {
                tracing::warn!(session = %self.key, ask = ask.key.tool_use_id, %error, "failed to settle an abandoned permission request");
            }
        }
        for inquiry in self.questions.pending_for_session(self.handle) {
            if !policy.supports_interaction()
                && let Err(error) = self.decline_by_rule(&inquiry.key).await
            {
                tracing::warn!(session = %self.key, ask = inquiry.key.tool_use_id, %error, "failed to settle an abandoned question");
            }
        }
    }

    async fn answer_by_rule(&self, ask: &Ask, answer: Answer, rule: String) -> Result<(), Error> {
        let id = ask.key.tool_use_id.as_str();
        let (outcome, reason) = match &answer {
            Answer::Allow(_) => (Resolution::Allowed, None),
            Answer::Deny(denied) => (Resolution::Denied, denied.message.clone()),
            _ => (Resolution::Denied, None),
        };
        let mut resolved = PermissionResolved::new(self.handle, id, outcome);
        resolved.by = Some("policy".to_owned());
        resolved.rule = Some(rule.clone());
        resolved.reason = reason;
        let _lock = self.answers.lock().await;
        let open = self.ask(&AskId::new(id)?).await?;
        if let Some(PendingRequest::Permission(shown)) =
            open.and_then(|ask| pending_request(&ask, self.handle))
        {
            resolved.batch_id = shown.details.batch_id;
        }
        let kept = stored_answer::encode(&answer);
        if self.settle_by(id, kept, AnsweredBy::Rule(rule.clone()), resolved.into()).await? {
            // Fails if the agent withdrew the request at this very moment.
            let response = Response::rule(rule, answer);
            drop(self.permissions.respond_to_request(&ask.key, response, self.clock.now()));
        }
        Ok(())
    }

    async fn decline_by_rule(&self, key: &AskKey) -> Result<(), Error> {
        let id = key.tool_use_id.as_str();
        let mut resolved = InteractionResolved::new(self.handle, id, Resolution::Denied);
        resolved.by = Some("policy".to_owned());
        let _lock = self.answers.lock().await;
        let kept = serde_json::to_string(&resolved.answer).unwrap_or_default();
        let by = AnsweredBy::Rule(UNATTENDED_RULE.to_owned());
        if self.settle_by(id, kept, by.clone(), resolved.into()).await? {
            drop(self.questions.decline(key, by));
        }
        Ok(())
    }
}
