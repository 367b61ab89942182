//! Batches: requests that are shown and answered together.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_protocol::ui::{AnsweredBy, PermissionRequest};

use super::{PermissionRegistry, Recorded, RegistryError, Response, by_grant, requests};
use crate::limits::BATCHES_MAX;
use crate::permissions::{Answer, Ask, Digest, Grant};
use crate::request_table::AskKey;

/// A batch to show.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegisteredBatch {
    /// The id of the batch, for the answer.
    pub batch_id: String,
    /// The open requests, in order.
    pub asks: Vec<Arc<Ask>>,
    /// Requests that a grant has settled; they need not be shown.
    pub auto_approved: Vec<Arc<Ask>>,
    /// For each open request that has one, the grant that would cover it.
    pub suggested_grants: Vec<Grant>,
}

impl RegisteredBatch {
    /// The open requests for the events.
    pub fn requests(&self) -> Vec<PermissionRequest> {
        requests(&self.asks)
    }
}

/// A request of a batch: its index in the list that was shown, or its call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Member {
    /// The index, from 0.
    Index(usize),
    /// The call.
    ToolUseId(String),
}

/// An answer to one request of a batch.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BatchAnswer {
    /// The request.
    pub member: Member,
    /// The answer.
    pub answer: Answer,
    /// The digest, as in [`Response`].
    pub digest: Option<Digest>,
}

/// Answers to some or all requests of a batch, independent of each other. If a request has several answers
/// and one is a denial, the denial wins.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BatchResponse {
    /// The author.
    pub by: AnsweredBy,
    /// The answers. A request without one stays open.
    pub answers: Vec<BatchAnswer>,
}

/// The effect of an answer to a batch.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BatchRecorded {
    /// Requests that were decided now.
    pub recorded: Vec<Recorded>,
    /// Requests that could not be decided, with the reason: already settled, or an answer about another
    /// input.
    pub refused: Vec<(Member, RegistryError)>,
    /// Requests that are still open.
    pub open: Vec<Arc<Ask>>,
}

impl BatchResponse {
    /// Creates a response without answers.
    pub fn new(by: AnsweredBy) -> Self {
        BatchResponse { by, answers: Vec::new() }
    }

    /// Adds an approval.
    #[must_use]
    pub fn approve(self, member: Member) -> Self {
        self.answer(member, Answer::allow())
    }

    /// Adds a denial.
    #[must_use]
    pub fn deny(self, member: Member, message: impl Into<String>) -> Self {
        self.answer(member, Answer::deny(message))
    }

    /// Adds an answer.
    #[must_use]
    pub fn answer(mut self, member: Member, answer: Answer) -> Self {
        self.answers.push(BatchAnswer { member, answer, digest: None });
        self
    }
}

impl PermissionRegistry {
    /// Registers a batch. Requests that a grant covers are settled and left out; those that are not open yet
    /// are opened, as by [`PermissionRegistry::announce`].
    pub fn register_batch(
        &self,
        batch_id: impl Into<String>,
        asks: Vec<Ask>,
        now: Timestamp,
    ) -> Result<RegisteredBatch, RegistryError> {
        let batch_id = batch_id.into();
        let mut state = self.0.lock();
        if state.batches.get(&batch_id).is_some() {
            return Err(RegistryError::BatchExists);
        }
        let mut batch = RegisteredBatch {
            batch_id,
            asks: Vec::new(),
            auto_approved: Vec::new(),
            suggested_grants: Vec::new(),
        };
        for ask in asks {
            let open = state.requests.get(&ask.key).filter(|open| open.digest == ask.digest).cloned();
            if let Some(grant) = state.grants.satisfying(&ask, now) {
                if let Some(open) = open {
                    // It may be settled already.
                    drop(state.settle(&open.key, by_grant(grant)));
                }
                batch.auto_approved.push(Arc::new(ask));
                continue;
            }
            let ask = if let Some(open) = open {
                open
            } else {
                let ask = Arc::new(ask);
                state.requests.open(Arc::clone(&ask), None)?;
                ask
            };
            batch.suggested_grants.extend(ask.suggested_grant());
            batch.asks.push(ask);
        }
        let members = batch.asks.iter().map(|ask| ask.key.clone()).collect();
        state.batches.add(batch.batch_id.clone(), members);
        Ok(batch)
    }

    /// Registers a batch of requests that were opened before; those that were settled in the meantime stay
    /// settled.
    pub(crate) fn add_batch(&self, batch_id: &str, asks: &[Arc<Ask>]) {
        let members = asks.iter().map(|ask| ask.key.clone()).collect();
        self.0.lock().batches.add(batch_id.to_owned(), members);
    }

    /// Answers some or all requests of a batch.
    pub fn respond_to_batch(
        &self,
        batch_id: &str,
        response: BatchResponse,
        now: Timestamp,
    ) -> Result<BatchRecorded, RegistryError> {
        let mut state = self.0.lock();
        let members = state.batches.get(batch_id).ok_or(RegistryError::NoBatch)?.to_vec();
        if !members.iter().any(|key| state.requests.get(key).is_some()) {
            return Err(RegistryError::BatchAlreadyProcessed);
        }
        let mut result = BatchRecorded::default();
        let mut answers: Vec<(AskKey, BatchAnswer)> = Vec::new();
        for answer in response.answers {
            match find(&members, &answer.member) {
                Some(key) => answers.push((key, answer)),
                None => result.refused.push((answer.member, RegistryError::NotFound)),
            }
        }
        for key in &members {
            let mut candidates: Vec<&BatchAnswer> =
                answers.iter().filter(|(to, _)| to == key).map(|(_, answer)| answer).collect();
            // Denials first, so that they win.
            candidates.sort_by_key(|answer| answer.answer.is_allowed());
            let Some(first) = candidates.first() else {
                continue;
            };
            let one =
                Response { answer: first.answer.clone(), by: response.by.clone(), digest: first.digest };
            match state.respond(key, one, now) {
                Ok(recorded) => result.recorded.push(recorded),
                Err(error) => result.refused.push((first.member.clone(), error)),
            }
        }
        result.open = members.iter().filter_map(|key| state.requests.get(key)).cloned().collect();
        Ok(result)
    }

    /// Withdraws the open requests of a batch.
    pub fn cancel_batch(&self, batch_id: &str) -> Result<Vec<Arc<Ask>>, RegistryError> {
        let members = self.0.lock().batches.get(batch_id).ok_or(RegistryError::NoBatch)?.to_vec();
        let withdrawn: Vec<Arc<Ask>> = members.iter().filter_map(|key| self.cancel(key).ok()).collect();
        if withdrawn.is_empty() { Err(RegistryError::BatchAlreadyProcessed) } else { Ok(withdrawn) }
    }

    /// The number of batches with open requests.
    pub fn pending_batch_count(&self) -> usize {
        let state = self.0.lock();
        state
            .batches
            .all()
            .filter(|members| members.iter().any(|key| state.requests.get(key).is_some()))
            .count()
    }
}

fn find(members: &[AskKey], member: &Member) -> Option<AskKey> {
    match member {
        Member::Index(at) => members.get(*at),
        Member::ToolUseId(id) => members.iter().find(|key| key.tool_use_id == *id),
    }
    .cloned()
}

/// The members of each batch.
#[derive(Debug, Default)]
pub(super) struct BatchTable {
    members: HashMap<String, Vec<AskKey>>,
    /// Oldest first.
    order: VecDeque<String>,
}

impl BatchTable {
    fn add(&mut self, id: String, members: Vec<AskKey>) {
        if self.order.len() >= BATCHES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            // Its requests stay open, and can be answered one by one.
            self.members.remove(&oldest);
        }
        self.order.push_back(id.clone());
        self.members.insert(id, members);
    }

    fn get(&self, id: &str) -> Option<&[AskKey]> {
        self.members.get(id).map(Vec::as_slice)
    }

    fn all(&self) -> impl Iterator<Item = &[AskKey]> {
        self.members.values().map(Vec::as_slice)
    }

    pub(super) fn clear(&mut self, session_id: i64) {
        self.members.retain(|_, members| members.iter().any(|key| key.session_id != session_id));
        self.order.retain(|id| self.members.contains_key(id));
    }
}
