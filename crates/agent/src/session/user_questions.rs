//! Questions to the user: from the model, about a plan, or from an MCP server.

use tidings::ElicitationAsk;
use tidings::control::{CanUseTool, ElicitationAnswer};
use tidings_protocol::ui::{
    OptionDetails, PlanProposed, QuestionDetails, QuestionKind, QuestionNote, RequestOutcome,
};
use tokio::sync::oneshot;

use super::notes::Note;
use super::outcomes::UserQuestions;
use super::request_handler::{HandlerDecision, RequestHandler, deadline};
use crate::fold::OpenedRequest;
use crate::questions::{Choice, CliReply, Field, Inquiry, InteractionError, Origin, Replied};
use crate::request_table::AskKey;

impl RequestHandler {
    /// Asks the user, if the tool is a question. Returns `None` for other tools.
    pub(super) async fn answer_question_tool(
        &self,
        request_id: &str,
        call: &CanUseTool,
    ) -> Option<HandlerDecision> {
        if !Inquiry::is_asked_by(&call.tool_name) {
            return None;
        }
        let plan = self.plan_of(call.tool_use_id.as_deref()).await;
        let inquiry = Inquiry::from_call(self.setup.handle, request_id, call, plan.as_deref())?;
        let outcome = self.ask_user(inquiry.clone(), call.agent_id.as_deref()).await;
        match inquiry.cli_reply(&outcome) {
            CliReply::Tool(decision) => {
                Some(HandlerDecision { decision, is_answered: outcome.is_answered() })
            }
            CliReply::Elicitation(_) => None,
        }
    }

    /// The plan that a call proposes. It is part of the call, and not of the request about it.
    async fn plan_of(&self, tool_use_id: Option<&str>) -> Option<String> {
        let (reply, plan) = oneshot::channel();
        self.notes.send(Note::Plan(tool_use_id?.to_owned(), reply)).await;
        plan.await.ok()?
    }

    /// Asks the user on behalf of an MCP server.
    pub(super) async fn answer_elicitation(&self, asked: ElicitationAsk) -> ElicitationAnswer {
        let id = asked.context.request_id();
        let inquiry = Inquiry::from_elicitation(self.setup.handle, id, &asked.call);
        let outcome = self.ask_user(inquiry.clone(), None).await;
        match inquiry.cli_reply(&outcome) {
            CliReply::Elicitation(answer) => answer,
            CliReply::Tool(_) => ElicitationAnswer::cancel(),
        }
    }

    async fn ask_user(&self, inquiry: Inquiry, agent_id: Option<&str>) -> RequestOutcome<Replied> {
        let key = inquiry.key.clone();
        if !self.setup.policy.supports_interaction() {
            let outcome = RequestOutcome::by_rule(Replied::Declined, "no user can be asked");
            return self.declined(key, outcome).await;
        }
        let deadline = deadline(self.setup.ask_limit);
        let asked = self.event_of(&inquiry, agent_id);
        match self.setup.questions.register(inquiry, deadline) {
            Ok(waiting) => {
                self.notes.send(Note::Questioned(Box::new(asked))).await;
                self.wait_and_report::<UserQuestions>(&key, waiting, deadline).await
            }
            Err(error) => {
                let outcome = RequestOutcome::by_rule(Replied::Declined, error.to_string());
                match error {
                    // The first question stays open, and its outcome is reported once.
                    InteractionError::AlreadyAsked => outcome,
                    _ => self.declined(key, outcome).await,
                }
            }
        }
    }

    async fn declined(&self, key: AskKey, outcome: RequestOutcome<Replied>) -> RequestOutcome<Replied> {
        self.notes.send(Note::Declined(key, outcome.clone())).await;
        outcome
    }

    fn event_of(&self, inquiry: &Inquiry, agent_id: Option<&str>) -> OpenedRequest {
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
        details.deadline_ms = self.deadline_ms(self.setup.ask_limit);
        OpenedRequest::Questions { request: inquiry.request(), details, plan: plan(inquiry) }
    }
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

/// The plan to approve, if the call contains it.
fn plan(inquiry: &Inquiry) -> Option<PlanProposed> {
    let Origin::Plan(input) = &inquiry.origin else { return None };
    let text = |name: &str| Some(input.raw().get(name)?.text()?.get().into_owned());
    let AskKey { session_id, tool_use_id, .. } = &inquiry.key;
    let mut plan = PlanProposed::new(*session_id, tool_use_id.as_str(), text("plan")?);
    plan.path = text("planFilePath");
    Some(plan)
}
