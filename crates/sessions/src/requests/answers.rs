//! Answers of users: the journal decides which one was first, and the agent gets that one.

use std::path::Path;

use tidings::Decision;
use tidings::permissions::PermissionUpdate;
use tidings_agent::permissions::{AfterDenial, Allowed, Answer, Denied, Response};
use tidings_agent::questions::{CliReply, Inquiry, InteractionError, Replied, Reply};
use tidings_agent::{AskKey, UiMessage};
use tidings_api::{
    AnswerResult, BatchAnswer, BatchAnswerItem, BatchAnswered, Choice, Code, PendingPermission,
    PermissionAnswer, PermissionScope, QuestionAnswer, QuestionReply,
};
use tidings_journal::{AskId, ClientId, Settle, Settlement, StoredRequest};
use tidings_protocol::json::Json;
use tidings_protocol::ui::{AnsweredBy, InteractionResolved, PermissionResolved, RequestOutcome, Resolution};

use crate::capabilities::{self, Bypass};
use crate::limits::{RULE_CHECKS_MAX, RULE_EVERY};
use crate::live_session::LiveSession;
use crate::requests::asks::{
    ApprovalEffects, PendingRequest, audit, outcome_name, pending_request, resolution,
};
use crate::requests::stored_answer;
use crate::running::command_ids;
use crate::trust::{TrustBaseline, TrustChange};
use crate::{Caller, Error};

/// The answer of a user, as it is stored.
pub(super) struct PreparedAnswer {
    /// The answer for the agent, as JSON.
    answer: String,
    event: UiMessage,
    effects: ApprovalEffects,
    client_id: Option<ClientId>,
    /// True if the request was open when the answer came.
    was_open: bool,
}

impl LiveSession {
    /// Answers a permission request. The first answer counts; later ones fail with the first.
    pub(crate) async fn answer_permission(
        &self,
        caller: &Caller,
        tool_use_id: &str,
        mut answer: PermissionAnswer,
    ) -> Result<AnswerResult, Error> {
        // No answer needs the capability that a server can refuse to all.
        capabilities::require(caller, Bypass::Refused, &capabilities::of_permission_answer(&answer)?)?;
        answer.message = answer.message.map(|text| self.admit_answer(caller, &text)).transpose()?;
        let client_id = command_ids::optional_stored_id(caller, answer.client_id.as_deref())?;
        let id = AskId::new(tool_use_id)?;
        let _lock = self.answers.lock().await;
        self.settle_closed_dialog(tool_use_id).await;
        let ask = self.ask(&id).await?;
        let digest = ask.as_ref().and_then(|ask| ask.digest.clone());
        if let Some(ask) = &ask {
            if ask.kind != "permission" {
                return Err(wrong_kind(tool_use_id, "a question", "questions"));
            }
            check_digest(&answer, digest.as_deref())?;
            self.check_scope(&answer, ask)?;
        }
        let (decided, resolution) = decide(&answer)?;
        let before = match &decided {
            Answer::Allow(allowed) if allowed.scope == PermissionScope::Always => self.before_rule().await,
            _ => None,
        };
        let mut resolved = PermissionResolved::new(self.handle, tool_use_id, resolution);
        resolved.by = Some(caller.name.clone());
        match &decided {
            Answer::Allow(allowed) => {
                resolved.scope = Some(allowed.scope.as_str().to_owned());
                resolved.updated_input.clone_from(&answer.updated_input);
            }
            Answer::Deny(denied) => resolved.reason.clone_from(&denied.message),
            _ => {}
        }
        let (mut effects, mut leaves_plan) = (ApprovalEffects::default(), false);
        if let Some(PendingRequest::Permission(PendingPermission { details, .. })) =
            ask.as_ref().and_then(|ask| pending_request(ask, self.handle))
        {
            effects = ApprovalEffects::of(&decided, &details);
            leaves_plan = leaves_plan_mode(&details.tool_name) && resolution == Resolution::Allowed;
            resolved.batch_id = details.batch_id;
        }
        let answer = stored_answer::encode(&decided);
        let (event, was_open) = (UiMessage::from(resolved), ask.is_some());
        let prepared = PreparedAnswer { answer, event, effects, client_id, was_open };
        let observed = self.memory().observed.clone().filter(|_| ask.is_some());
        let result = if let Some(observed) = observed {
            self.answer_dialog(caller, &id, &observed, decided, prepared).await?
        } else {
            let result = self.store_answer(caller, &id, &decided, prepared).await?;
            self.hand_to_agent(caller, tool_use_id, decided).await?;
            result
        };
        if leaves_plan {
            self.memory().mode.leave_plan();
        }
        if let Some(before) = before {
            self.follow_rule(before);
        }
        Ok(result)
    }

    /// Stores an answer, if it is the first.
    pub(super) async fn store_answer(
        &self,
        caller: &Caller,
        id: &AskId,
        decided: &Answer,
        prepared: PreparedAnswer,
    ) -> Result<AnswerResult, Error> {
        let outcome = outcome_name(resolution(&prepared.event));
        let was_open = prepared.was_open;
        match self.settle_first(caller, id, prepared).await {
            // A denial is safe without a record. Its event is stored when there is room.
            Err(error) if matches!(decided, Answer::Deny(_)) && was_open && self.lacks_room(&error) => {
                Ok(self.unstored(id.as_str(), outcome, caller))
            }
            settled => settled,
        }
    }

    /// Hands an answer to the agent. Returns true if the agent still waited for it.
    pub(super) async fn hand_to_agent(
        &self,
        caller: &Caller,
        tool_use_id: &str,
        decided: Answer,
    ) -> Result<bool, Error> {
        let key = AskKey::new(self.handle, tool_use_id);
        let response = Response::person(caller.name.as_str(), decided);
        match self.permissions.respond_to_request(&key, response, self.clock.now()) {
            // A grant answers other requests too. Those are settled before they can be answered otherwise.
            Ok(recorded) => {
                for also in &recorded.also_settled {
                    self.settle_by_grant(
                        &also.key.tool_use_id,
                        recorded.grant.as_ref().map(|grant| grant.id.as_str()),
                    )
                    .await?;
                }
                Ok(true)
            }
            // The agent withdrew the request at this very moment.
            Err(error) => {
                tracing::info!(session = %self.key, ask = tool_use_id, %error, "answered too late");
                Ok(false)
            }
        }
    }

    /// Refuses a scope that the request does not offer, before anything is stored: the agent would not get
    /// such an answer.
    fn check_scope(&self, answer: &PermissionAnswer, ask: &StoredRequest) -> Result<(), Error> {
        if answer.decision != Choice::Allow || answer.scope == PermissionScope::Once {
            return Ok(());
        }
        let open = self.permissions.get(&AskKey::new(self.handle, ask.id.as_str()));
        let is_offered = match (answer.scope, &open) {
            (PermissionScope::Session, Some(open)) => open.suggested_grant().is_some(),
            (PermissionScope::Always, Some(open)) => !open.always_updates().is_empty(),
            (PermissionScope::Always, None) => offers_rules(ask, self.handle),
            _ => true,
        };
        if is_offered {
            return Ok(());
        }
        let (message, hint) = match answer.scope {
            PermissionScope::Always => (
                "This request does not offer `always`: no rule covers it without allowing more",
                "allow it once, or write a rule into the settings yourself",
            ),
            _ => ("This call cannot be allowed for the whole session", "allow it once"),
        };
        Err(Error::new(Code::Unprocessable, message, hint))
    }

    /// The state of the session's folder before a rule is added to it; none if it is not trusted.
    async fn before_rule(&self) -> Option<TrustBaseline> {
        let (trust, cwd) = (self.trust.clone()?, self.memory().row.cwd.clone());
        let look = move || trust.before_rule(Path::new(&cwd));
        tokio::task::spawn_blocking(look).await.ok()?.unwrap_or_default()
    }

    /// Keeps the folder trusted after the agent has written the new rule into its settings.
    fn follow_rule(&self, before: TrustBaseline) {
        let Some(trust) = self.trust.clone() else { return };
        let key = self.key.clone();
        drop(tokio::spawn(async move {
            for _ in 0..RULE_CHECKS_MAX {
                tokio::time::sleep(RULE_EVERY).await;
                let (trust, before) = (trust.clone(), before.clone());
                let followed = tokio::task::spawn_blocking(move || trust.after_rule(&before)).await;
                match followed {
                    Ok(Ok(TrustChange::Same)) => {}
                    Ok(Ok(TrustChange::Agreed)) | Err(_) => return,
                    Ok(Ok(TrustChange::Doubtful)) => {
                        return tracing::warn!(session = %key, "more than the new rule has changed in the folder");
                    }
                    Ok(Err(error)) => return tracing::warn!(session = %key, %error),
                }
            }
        }));
    }

    /// Answers the permission requests of a batch, one after the other.
    pub(crate) async fn answer_batch(
        &self,
        caller: &Caller,
        batch_id: &str,
        batch: BatchAnswer,
    ) -> Result<BatchAnswered, Error> {
        let members: Vec<String> = self
            .journal()
            .asks(Some(&self.key))
            .await?
            .iter()
            .filter_map(|ask| match pending_request(ask, self.handle)? {
                PendingRequest::Permission(permission) => Some(permission.details),
                PendingRequest::Question(_) => None,
            })
            .filter(|details| details.batch_id.as_deref() == Some(batch_id))
            .map(|details| details.tool_use_id)
            .collect();
        let mut results = Vec::new();
        // Each answer is checked against the capabilities by itself.
        let BatchAnswer { answers, client_id } = batch;
        for (position, item) in answers.into_iter().enumerate() {
            let BatchAnswerItem { index, tool_use_id, mut answer } = item;
            let by_index = index.and_then(|index| usize::try_from(index).ok());
            let named = tool_use_id.or_else(|| members.get(by_index.unwrap_or(position)).cloned());
            let Some(tool_use_id) = named else {
                let message = format!("The batch `{batch_id}` has no open request at index {position}");
                return Err(Error::new(Code::NotFound, message, "list the pending permissions"));
            };
            if let (None, Some(id)) = (&answer.client_id, &client_id) {
                answer.client_id = Some(format!("{id}:{tool_use_id}"));
            }
            match self.answer_permission(caller, &tool_use_id, answer).await {
                Ok(result) => results.push(result),
                Err(error) => match error.winner() {
                    Some(winner) => results.push(winner.clone()),
                    None => return Err(error),
                },
            }
        }
        Ok(BatchAnswered { results })
    }

    /// Answers questions, or declines them.
    pub(crate) async fn answer_question(
        &self,
        caller: &Caller,
        tool_use_id: &str,
        answer: QuestionAnswer,
    ) -> Result<AnswerResult, Error> {
        let client_id = command_ids::optional_stored_id(caller, answer.client_id.as_deref())?;
        let id = AskId::new(tool_use_id)?;
        let key = AskKey::new(self.handle, tool_use_id);
        let inquiry = self.questions.get(&key);
        let needs = capabilities::of_question_answer(&answer, inquiry.as_deref())?;
        capabilities::require(caller, Bypass::Refused, &needs)?;
        let reply = |reply: QuestionReply| {
            let words = reply.answer.iter().map(|word| self.admit_answer(caller, word));
            Ok(Reply::new(reply.question_id, words.collect::<Result<Vec<_>, Error>>()?))
        };
        let replies: Vec<Reply> = answer.answers.into_iter().map(reply).collect::<Result<_, Error>>()?;
        let _lock = self.answers.lock().await;
        self.settle_closed_dialog(tool_use_id).await;
        let ask = self.ask(&id).await?;
        if ask.as_ref().is_some_and(|ask| ask.kind != "question") {
            return Err(wrong_kind(tool_use_id, "a permission", "permissions"));
        }
        if let Some(inquiry) = self.questions.get(&key).filter(|_| !answer.cancel) {
            let wrong = inquiry.check(&replies);
            if !wrong.is_empty() {
                let words: Vec<String> = wrong.iter().map(|wrong| wrong.message.clone()).collect();
                return Err(Error::new(Code::Unprocessable, words.join("; "), "answer again"));
            }
        }
        let outcome = if answer.cancel { Resolution::Denied } else { Resolution::Answered };
        let mut resolved = InteractionResolved::new(self.handle, tool_use_id, outcome);
        resolved.by = Some(caller.name.clone());
        if !answer.cancel {
            resolved.answer = serde_json::to_value(&replies).ok();
        }
        let kept = serde_json::to_string(&resolved.answer).unwrap_or_default();
        let prepared = PreparedAnswer {
            answer: kept,
            event: resolved.into(),
            effects: ApprovalEffects::default(),
            client_id,
            was_open: ask.is_some(),
        };
        let result = match self.settle_first(caller, &id, prepared).await {
            Err(error) if answer.cancel && ask.is_some() && self.lacks_room(&error) => {
                self.unstored(tool_use_id, outcome_name(outcome), caller)
            }
            settled => settled?,
        };
        // The mode of an approved plan was chosen by the person who approved it.
        if let Some(mode) = inquiry.filter(|_| !answer.cancel).and_then(|inquiry| mode_of(&inquiry, &replies))
        {
            self.memory().mode.choose(Some(mode));
        }
        let by = AnsweredBy::Person(caller.name.clone());
        let delivered = if answer.cancel {
            self.questions.decline(&key, by)
        } else {
            self.questions.respond(&key, replies, by)
        };
        match delivered {
            Ok(_) => {}
            Err(InteractionError::Invalid(wrong)) => {
                tracing::warn!(session = %self.key, ask = tool_use_id, ?wrong, "a stored answer is invalid");
            }
            Err(error) => tracing::info!(session = %self.key, ask = tool_use_id, %error, "answered too late"),
        }
        Ok(result)
    }

    /// True if something failed because the disk is full.
    fn lacks_room(&self, error: &Error) -> bool {
        error.code() == Code::Unavailable && self.journal().is_full()
    }

    /// The result of an answer that could not be stored yet.
    fn unstored(&self, tool_use_id: &str, outcome: &str, caller: &Caller) -> AnswerResult {
        let head = self.memory().row.head;
        AnswerResult {
            tool_use_id: tool_use_id.to_owned(),
            outcome: outcome.to_owned(),
            by: Some(caller.name.clone()),
            seq: head.seq,
            cursor: head.to_string(),
        }
    }

    /// The open ask with an id.
    pub(crate) async fn ask(&self, id: &AskId) -> Result<Option<StoredRequest>, Error> {
        Ok(self.journal().open_ask(&self.key, id).await?)
    }

    /// Stores an answer if it is the first.
    async fn settle_first(
        &self,
        caller: &Caller,
        id: &AskId,
        prepared: PreparedAnswer,
    ) -> Result<AnswerResult, Error> {
        let PreparedAnswer { answer, event, effects, client_id, was_open: _ } = prepared;
        let mut line = audit(self, id.as_str(), &event, caller.device.as_deref());
        line.rule = effects.rules;
        line.changed = effects.changed;
        let outcome = match &event {
            UiMessage::PermissionResolved(resolved) => outcome_name(resolved.outcome),
            UiMessage::InteractionResolved(resolved) => outcome_name(resolved.outcome),
            _ => "lost",
        };
        let settle = Settle {
            outcome: RequestOutcome::Answered { answer, by: AnsweredBy::Person(caller.name.clone()) },
            event: self.draft_of(&event, client_id),
            audit: Some(line),
        };
        let settlement = self.journal().settle(&self.key, id, settle).await?;
        let cursor = settlement.cursor();
        let result = |outcome: &str, by: Option<String>| AnswerResult {
            tool_use_id: id.to_string(),
            outcome: outcome.to_owned(),
            by,
            seq: cursor.seq,
            cursor: cursor.to_string(),
        };
        match settlement {
            Settlement::Won(_) => {
                self.settled(id.as_str(), outcome);
                Ok(result(outcome, Some(caller.name.clone())))
            }
            Settlement::Lost { winner, .. } => {
                let (outcome, by) = outcome_and_author(&winner);
                Err(Error::already_answered(result(outcome, by)))
            }
        }
    }

    /// Settles another permission request of the session by a grant.
    async fn settle_by_grant(&self, tool_use_id: &str, grant: Option<&str>) -> Result<(), Error> {
        let mut resolved = PermissionResolved::new(self.handle, tool_use_id, Resolution::Allowed);
        resolved.by = Some("grant".to_owned());
        resolved.rule = grant.map(str::to_owned);
        let by = AnsweredBy::Grant(grant.unwrap_or_default().to_owned());
        self.settle_by(tool_use_id, "allowed".to_owned(), by, resolved.into()).await.map(drop)
    }

    /// Stores an answer of a rule or a grant. Returns true if the request was open until now.
    pub(crate) async fn settle_by(
        &self,
        tool_use_id: &str,
        answer: String,
        by: AnsweredBy,
        event: UiMessage,
    ) -> Result<bool, Error> {
        let settle = Settle {
            outcome: RequestOutcome::Answered { answer, by },
            audit: Some(audit(self, tool_use_id, &event, None)),
            event: self.draft_of(&event, None),
        };
        let settlement = self.journal().settle(&self.key, &AskId::new(tool_use_id)?, settle).await?;
        let is_won = matches!(settlement, Settlement::Won(_));
        if is_won {
            self.settled(tool_use_id, outcome_name(resolution(&event)));
        }
        Ok(is_won)
    }
}

/// The outcome of an ask, and its author.
fn outcome_and_author(winner: &RequestOutcome<String>) -> (&'static str, Option<String>) {
    match winner {
        RequestOutcome::Answered { answer, by } => {
            let by = match by {
                AnsweredBy::Rule(rule) => format!("the rule `{rule}`"),
                AnsweredBy::Grant(id) => format!("the grant `{id}`"),
                AnsweredBy::Person(name) => name.clone(),
            };
            let outcome = match stored_answer::decode(answer) {
                Some(Answer::Allow(_)) => "allowed",
                Some(Answer::Deny(_)) => "denied",
                _ => "answered",
            };
            (outcome, Some(by))
        }
        RequestOutcome::TimedOut => ("timed_out", None),
        RequestOutcome::Disconnected => ("disconnected", None),
        RequestOutcome::Cancelled => ("cancelled", None),
        RequestOutcome::Lost => ("lost", None),
    }
}

/// Checks the digest: an answer that goes beyond what was shown must repeat it.
fn check_digest(answer: &PermissionAnswer, digest: Option<&str>) -> Result<(), Error> {
    let reaches_further = answer.updated_input.is_some() || answer.scope == PermissionScope::Always;
    match (&answer.digest, digest) {
        (Some(given), Some(digest)) if given != digest => {
            let message = "The request has changed since it was shown";
            Err(Error::new(Code::DigestMismatch, message, "read it again, and answer with its digest"))
        }
        (None, _) if answer.decision == Choice::Allow && reaches_further => {
            let message = "An answer that adds rules or changes the input has to repeat the digest";
            Err(Error::new(Code::DigestRequired, message, "take `digest` from the list of permissions"))
        }
        _ => Ok(()),
    }
}

/// True if a tool of another agent asks for the end of its plan mode.
fn leaves_plan_mode(tool: &str) -> bool {
    matches!(tool, "acp_switch_mode" | "acp_ExitPlanMode")
}

/// The permission mode that an answer sets.
fn mode_of(inquiry: &Inquiry, replies: &[Reply]) -> Option<String> {
    let outcome = RequestOutcome::by_person(Replied::Answers(replies.to_vec()), "");
    let CliReply::Tool(Decision::Allow(allow)) = inquiry.cli_reply(&outcome) else { return None };
    allow.updated_permissions.into_iter().flatten().find_map(|update| match update {
        PermissionUpdate::SetMode(set) => Some(set.mode.to_string()),
        _ => None,
    })
}

/// True if a stored request offers rules.
fn offers_rules(ask: &StoredRequest, handle: i64) -> bool {
    let Some(PendingRequest::Permission(permission)) = pending_request(ask, handle) else { return false };
    permission.details.suggestions.is_some_and(|rules| rules.as_array().is_some_and(|all| !all.is_empty()))
}

fn decide(answer: &PermissionAnswer) -> Result<(Answer, Resolution), Error> {
    if answer.decision == Choice::Deny {
        let mut denied = Denied::default();
        denied.message.clone_from(&answer.message);
        denied.then = if answer.interrupt { AfterDenial::Stop } else { AfterDenial::GoOn };
        return Ok((Answer::Deny(denied), Resolution::Denied));
    }
    let mut allowed = Allowed::default();
    allowed.scope = answer.scope;
    if let Some(input) = &answer.updated_input {
        if !input.is_object() {
            let message = "`updated_input` is not a JSON object";
            return Err(Error::new(Code::Unprocessable, message, "send the whole input of the tool"));
        }
        allowed.updated_input = Some(Json::from(input));
    }
    Ok((Answer::Allow(allowed), Resolution::Allowed))
}

fn wrong_kind(id: &str, what: &str, route: &str) -> Error {
    Error::new(Code::Invalid, format!("`{id}` is {what}"), format!("answer it under `{route}`"))
}
