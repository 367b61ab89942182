//! The agent asks the person something: of its own, about a plan, or for an MCP server.

use std::pin::pin;
use std::time::Instant;

use tidings::control::ElicitationAnswer;
use tidings::{Decision, ElicitationAsk, PermissionAsk};
use tidings_protocol::ui::{
    InteractionResolved, OptionDetails, PlanProposed, QuestionDetails, QuestionKind, QuestionNote,
};

use super::asking::{Asking, who, without_answer};
use super::notes::Note;
use crate::desk::AskKey;
use crate::fold::Asked;
use crate::pending::Outcome;
use crate::questions::{Choice, CliReply, Field, Inquiry, Origin, Replied};

impl Asking {
    /// Asks the person, if the tool is a question.
    pub(super) async fn ask_person(&self, asked: &PermissionAsk) -> Option<Decision> {
        let id = asked.context.request_id();
        let inquiry = Inquiry::from_call(self.setup.handle, id, &asked.call, None)?;
        let outcome = self.inquire(inquiry.clone(), asked.call.agent_id.as_deref()).await;
        match inquiry.cli_reply(&outcome) {
            CliReply::Tool(decision) => Some(decision),
            CliReply::Elicitation(_) => None,
        }
    }

    /// Asks the person for an MCP server.
    pub(super) async fn fill_in(&self, asked: ElicitationAsk) -> ElicitationAnswer {
        let id = asked.context.request_id();
        let inquiry = Inquiry::from_elicitation(self.setup.handle, id, &asked.call);
        let outcome = self.inquire(inquiry.clone(), None).await;
        match inquiry.cli_reply(&outcome) {
            CliReply::Elicitation(answer) => answer,
            CliReply::Tool(_) => ElicitationAnswer::cancel(),
        }
    }

    async fn inquire(&self, inquiry: Inquiry, agent_id: Option<&str>) -> Outcome<Replied> {
        let key = inquiry.key.clone();
        if !self.setup.policy.supports_interaction() {
            let outcome = Outcome::by_rule(Replied::Declined, "nobody can be asked");
            return self.answered(&key, outcome).await;
        }
        let limit = self.setup.ask_limit.map(|limit| (limit, Instant::now() + limit));
        let asked = self.asked(&inquiry, agent_id);
        let waiting = match self.setup.questions.register(inquiry, limit.map(|(_, deadline)| deadline)) {
            Ok(waiting) => waiting,
            Err(error) => {
                let outcome = Outcome::by_rule(Replied::Declined, error.to_string());
                return self.answered(&key, outcome).await;
            }
        };
        let mut waiting = pin!(waiting);
        self.notes.tell(Note::Questioned(Box::new(asked))).await;
        // The agent takes a question back by dropping the one who answers it.
        let mut guard = TakenBack { asking: self, key: &key, armed: true };
        let outcome = match limit {
            None => waiting.await,
            Some((limit, deadline)) => tokio::select! {
                outcome = &mut waiting => outcome,
                () = tokio::time::sleep(limit) => {
                    drop(self.setup.questions.expire(deadline));
                    waiting.await
                }
            },
        };
        guard.armed = false;
        self.answered(&key, outcome).await
    }

    /// The agent is gone; what was open is told as that.
    pub(super) fn disconnect_questions(&self) {
        for inquiry in self.setup.questions.disconnect_session(self.setup.handle) {
            self.notes.tell_now(Note::Answered(resolved(&inquiry.key, &Outcome::Disconnected)));
        }
    }

    async fn answered(&self, key: &AskKey, outcome: Outcome<Replied>) -> Outcome<Replied> {
        self.notes.tell(Note::Answered(resolved(key, &outcome))).await;
        outcome
    }

    fn asked(&self, inquiry: &Inquiry, agent_id: Option<&str>) -> Asked {
        let AskKey { session_id, tool_use_id, .. } = &inquiry.key;
        let kind = match inquiry.origin {
            Origin::Plan(_) => QuestionKind::Plan,
            Origin::Form(_) | Origin::Address(_) => QuestionKind::Elicitation,
            Origin::Model(_) => QuestionKind::Questions,
        };
        let mut details = QuestionDetails::new(*session_id, tool_use_id.as_str(), kind);
        details.agent_id = agent_id.map(str::to_owned);
        details.questions = inquiry.fields.iter().map(note).collect();
        if let Origin::Form(call) | Origin::Address(call) = &inquiry.origin {
            details.message = Some(call.message.clone());
            details.url.clone_from(&call.url);
            details.schema = call.requested_schema.as_ref().and_then(|schema| schema.raw().value().ok());
        }
        details.deadline_ms = self.deadline_ms();
        Asked::Questions { request: inquiry.request(), details, plan: plan(inquiry) }
    }
}

/// Tells that questions were taken back, unless they were settled before.
struct TakenBack<'a> {
    asking: &'a Asking,
    key: &'a AskKey,
    armed: bool,
}

impl Drop for TakenBack<'_> {
    fn drop(&mut self) {
        if self.armed && self.asking.setup.questions.cancel(self.key).is_ok() {
            self.asking.notes.tell_now(Note::Answered(resolved(self.key, &Outcome::Cancelled)));
        }
    }
}

fn resolved(key: &AskKey, outcome: &Outcome<Replied>) -> InteractionResolved {
    let mut resolved =
        InteractionResolved::new(key.session_id, key.tool_use_id.as_str(), without_answer(outcome));
    if let Outcome::Answered { answer, by } = outcome {
        (resolved.by, resolved.reason) = who(by);
        match answer {
            Replied::Answers(answers) => resolved.answer = serde_json::to_value(answers).ok(),
            Replied::Declined => resolved.outcome = tidings_protocol::ui::Resolution::Denied,
        }
    }
    resolved
}

fn note(field: &Field) -> QuestionNote {
    let mut note = QuestionNote::new(field.question.id.as_str());
    note.header.clone_from(&field.header);
    note.options = field.choices.iter().map(option).collect();
    note
}

fn option(choice: &Choice) -> OptionDetails {
    let mut option = OptionDetails::new(choice.label.as_str());
    option.description.clone_from(&choice.description);
    option.preview.clone_from(&choice.preview);
    option
}

/// The plan that is to be approved, where the call has it.
fn plan(inquiry: &Inquiry) -> Option<PlanProposed> {
    let Origin::Plan(input) = &inquiry.origin else { return None };
    let text = |name: &str| Some(input.raw().get(name)?.text()?.get().into_owned());
    let AskKey { session_id, tool_use_id, .. } = &inquiry.key;
    let mut plan = PlanProposed::new(*session_id, tool_use_id.as_str(), text("plan")?);
    plan.path = text("planFilePath");
    Some(plan)
}
