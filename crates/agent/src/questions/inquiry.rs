//! Questions that are answered together, and replies to the CLI.

use serde::{Deserialize, Serialize};
use tidings::Decision;
use tidings_protocol::control::{CanUseTool, Elicitation, ElicitationAnswer};
use tidings_protocol::json::Json;
use tidings_protocol::ui::{AskUserQuestionsRequest, Question, QuestionType, RequestOutcome};

use super::form::{self, AnswerFormat};
use super::validate::{self, Invalid};
use super::{ask_user, plan};
use crate::request_table::{AskKey, Keyed};

/// Questions that are answered together.
///
/// ```
/// use tidings::Decision;
/// use tidings_protocol::ui::RequestOutcome;
/// use tidings_agent::questions::{CliReply, Inquiry, Replied, Reply};
/// use tidings_protocol::control::CanUseTool;
/// use tidings_protocol::json::Json;
///
/// let input = r#"{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}"#;
/// let call = CanUseTool::new("AskUserQuestion", Json::parse(input)?, "toolu_1");
/// let inquiry = Inquiry::from_call(1, "request-1", &call, None).ok_or("no question")?;
/// let answers = vec![Reply::new("q1", ["B"])];
/// assert!(inquiry.check(&answers).is_empty());
///
/// let outcome = RequestOutcome::by_person(Replied::Answers(answers), "phone");
/// let CliReply::Tool(Decision::Allow(allow)) = inquiry.cli_reply(&outcome) else { unreachable!() };
/// let sent = allow.updated_input.ok_or("no input")?;
/// assert!(sent.raw().as_str().ends_with(r#""answers":{"Which?":"B"}}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inquiry {
    /// The key of the request.
    pub key: AskKey,
    /// The origin of the questions.
    pub origin: Origin,
    /// The questions, in display order.
    pub fields: Vec<Field>,
}

/// The origin of questions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// The model, with the tool `AskUserQuestion`; the input is returned with the answers in it.
    Model(Json),
    /// The model, with a plan; the input is returned unchanged.
    Plan(Json),
    /// An MCP server, with a form.
    Form(Box<Elicitation>),
    /// An MCP server, with a URL to open.
    Address(Box<Elicitation>),
}

/// One question, with details that the events have no fields for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The question as in the events.
    pub question: Question,
    /// A short label.
    pub header: Option<String>,
    /// The choices, with explanations.
    pub choices: Vec<Choice>,
    /// True if free text is accepted besides the choices.
    pub takes_other: bool,
    /// The initial value.
    pub default: Option<String>,
    /// The format of a valid answer.
    pub(super) format: AnswerFormat,
}

/// A choice of a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The text that is shown and answered.
    pub label: String,
    /// An explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A preview to look at before choosing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The id of the question, or its text.
    pub question: String,
    /// The chosen labels, or free text.
    #[serde(default)]
    pub answer: Vec<String>,
}

/// The user's reaction to an inquiry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replied {
    /// The user answered.
    Answers(Vec<Reply>),
    /// The user declined to answer.
    Declined,
}

/// A reply to the CLI.
#[derive(Debug, Clone, PartialEq)]
pub enum CliReply {
    /// A reply to `can_use_tool`.
    Tool(Decision),
    /// A reply to `elicitation`.
    Elicitation(ElicitationAnswer),
}

impl Inquiry {
    /// Reads the questions of an `AskUserQuestion` or `ExitPlanMode` call; `None` for other tools.
    /// `plan` is the text of the plan, which newer CLIs store in a file and not in the call.
    pub fn from_call(
        session_id: i64,
        request_id: &str,
        call: &CanUseTool,
        plan: Option<&str>,
    ) -> Option<Self> {
        let key = AskKey::new(session_id, call.tool_use_id.as_deref().unwrap_or(request_id));
        let input = call.input().cloned().unwrap_or_else(|| Json::parse("{}").unwrap_or_default());
        let (origin, fields) = match call.tool_name.as_str() {
            "AskUserQuestion" => (Origin::Model(input.clone()), ask_user::fields(&input)?),
            "ExitPlanMode" => (Origin::Plan(input.clone()), plan::fields(&input, plan)),
            _ => return None,
        };
        Some(Inquiry { key, origin, fields })
    }

    /// True if calls of a tool are questions.
    pub fn is_asked_by(tool_name: &str) -> bool {
        matches!(tool_name, "AskUserQuestion" | "ExitPlanMode")
    }

    /// Reads the question of an MCP server.
    pub fn from_elicitation(session_id: i64, request_id: &str, call: &Elicitation) -> Self {
        let key = AskKey::new(session_id, request_id);
        let (origin, fields) = form::fields(call);
        Inquiry { key, origin, fields }
    }

    /// The questions for the events.
    pub fn request(&self) -> AskUserQuestionsRequest {
        AskUserQuestionsRequest {
            questions: self.fields.iter().map(|field| field.question.clone()).collect(),
        }
    }

    /// Validates answers, and returns the errors.
    pub fn check(&self, answers: &[Reply]) -> Vec<Invalid> {
        validate::answers(self, answers)
    }

    /// The reply to the CLI for an outcome. A missing answer is reported as such, and never as a refusal.
    pub fn cli_reply(&self, outcome: &RequestOutcome<Replied>) -> CliReply {
        let answers = match outcome.answer() {
            Some(Replied::Answers(answers)) if self.check(answers).is_empty() => Some(answers.as_slice()),
            _ => None,
        };
        match (&self.origin, answers) {
            (Origin::Model(input), Some(answers)) => {
                CliReply::Tool(Decision::allow_with(ask_user::with_answers(self, input, answers)))
            }
            (Origin::Plan(input), Some(answers)) => CliReply::Tool(plan::decision(self, input, answers)),
            (Origin::Model(_) | Origin::Plan(_), None) => {
                CliReply::Tool(Decision::deny(no_answer_message(outcome)))
            }
            (Origin::Form(_) | Origin::Address(_), Some(answers)) => {
                CliReply::Elicitation(form::answer(self, answers))
            }
            (Origin::Form(_) | Origin::Address(_), None) => CliReply::Elicitation(match outcome {
                RequestOutcome::Answered { .. } => ElicitationAnswer::decline(),
                _ => ElicitationAnswer::cancel(),
            }),
        }
    }

    /// The answers to a question, without blank ones.
    pub(super) fn answered<'a>(&self, field: &Field, answers: &'a [Reply]) -> Vec<&'a str> {
        let texts = answers.iter().filter(|reply| self.is_for(reply, field)).flat_map(|reply| &reply.answer);
        texts.map(|text| text.trim()).filter(|text| !text.is_empty()).collect()
    }

    /// True if a reply is for a question: by its id, else by its text.
    pub(super) fn is_for(&self, reply: &Reply, field: &Field) -> bool {
        let is_id = self.fields.iter().any(|field| field.question.id == reply.question);
        if is_id { field.question.id == reply.question } else { field.question.text == reply.question }
    }
}

impl Keyed for Inquiry {
    fn key(&self) -> &AskKey {
        &self.key
    }
}

impl Reply {
    /// Creates an answer.
    pub fn new<S: Into<String>>(question: impl Into<String>, answer: impl IntoIterator<Item = S>) -> Self {
        Reply { question: question.into(), answer: answer.into_iter().map(Into::into).collect() }
    }
}

impl Choice {
    pub(super) fn new(label: impl Into<String>) -> Self {
        Choice { label: label.into(), ..Choice::default() }
    }
}

impl Field {
    /// Creates a question with choices.
    pub(super) fn choice(
        id: impl Into<String>,
        text: impl Into<String>,
        kind: QuestionType,
        choices: Vec<Choice>,
    ) -> Self {
        let options = Some(choices.iter().map(|choice| choice.label.clone()).collect());
        let question =
            Question { id: id.into(), text: text.into(), question_type: kind, options, required: true };
        Field {
            question,
            header: None,
            choices,
            takes_other: true,
            default: None,
            format: AnswerFormat::Text,
        }
    }

    /// Creates a question with a free-text answer.
    pub(super) fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        let (id, text) = (id.into(), text.into());
        let question =
            Question { id, text, question_type: QuestionType::FreeText, options: None, required: true };
        Field {
            question,
            header: None,
            choices: Vec::new(),
            takes_other: true,
            default: None,
            format: AnswerFormat::Text,
        }
    }
}

/// The message to the model if there are no answers.
fn no_answer_message(outcome: &RequestOutcome<Replied>) -> &'static str {
    match outcome {
        RequestOutcome::Answered { .. } => "The user declined to answer",
        RequestOutcome::TimedOut => "No answer came in time; this is not a refusal to answer",
        RequestOutcome::Disconnected => {
            "The connection was lost before an answer came; this is not a refusal to answer"
        }
        RequestOutcome::Cancelled => "The question was withdrawn",
        RequestOutcome::Lost => "The program ended before an answer came; this is not a refusal to answer",
    }
}
