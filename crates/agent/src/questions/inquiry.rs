//! What is asked, and what the CLI is told of the answers.

use serde::{Deserialize, Serialize};
use tidings::Decision;
use tidings_protocol::control::{CanUseTool, Elicitation, ElicitationAnswer};
use tidings_protocol::json::Json;
use tidings_protocol::ui::{AskUserQuestionsRequest, Question, QuestionType};

use super::form::Shape;
use super::validate::{self, Invalid};
use super::{ask_user, form, plan};
use crate::pending::Outcome;
use crate::request_table::{AskKey, Keyed};

/// Questions that are answered together.
///
/// ```
/// use tidings::Decision;
/// use tidings_agent::pending::Outcome;
/// use tidings_agent::questions::{CliReply, Inquiry, Replied, Reply};
/// use tidings_protocol::control::CanUseTool;
/// use tidings_protocol::json::Json;
///
/// let input = r#"{"questions":[{"question":"Which?","header":"Base","options":[{"label":"A"},{"label":"B"}]}]}"#;
/// let call = CanUseTool::new("AskUserQuestion", Json::parse(input)?, "toolu_1");
/// let inquiry = Inquiry::from_call(1, "request-1", &call, None).ok_or("no question")?;
/// let answers = vec![Reply::new("q1", ["B"])];
/// assert!(inquiry.check(&answers).is_empty());
///
/// let outcome = Outcome::by_person(Replied::Answers(answers), "phone");
/// let CliReply::Tool(Decision::Allow(allow)) = inquiry.cli_reply(&outcome) else { unreachable!() };
/// let sent = allow.updated_input.ok_or("no input")?;
/// assert!(sent.raw().as_str().ends_with(r#""answers":{"Which?":"B"}}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inquiry {
    /// What it is called.
    pub key: AskKey,
    /// Who asks.
    pub origin: Origin,
    /// The questions, in the order to be shown.
    pub fields: Vec<Field>,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Origin {
    /// The model, with the tool `AskUserQuestion`; the input is sent back with the answers in it.
    Model(Json),
    /// The model, which has made a plan; the input is sent back as it is.
    Plan(Json),
    /// An MCP server, which wants a form filled in.
    Form(Box<Elicitation>),
    /// An MCP server, which wants the user to go to an address.
    Address(Box<Elicitation>),
}

/// One question, with what the events have no room for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The question as it stands in the events.
    pub question: Question,
    /// A word for a label.
    pub header: Option<String>,
    /// What can be chosen, with explanations.
    pub choices: Vec<Choice>,
    /// Whether words of one's own are an answer too.
    pub takes_other: bool,
    /// What is filled in to begin with.
    pub default: Option<String>,
    /// What an answer must look like.
    pub(super) shape: Shape,
}

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// What is shown, and what is answered.
    pub label: String,
    /// What it would mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Something to look at before choosing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The id of the question, or its text.
    pub question: String,
    /// What was chosen or written.
    #[serde(default)]
    pub answer: Vec<String>,
}

/// What somebody did with an inquiry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replied {
    /// Answered it.
    Answers(Vec<Reply>),
    /// Does not want to.
    Declined,
}

/// What the CLI is told.
#[derive(Debug, Clone, PartialEq)]
pub enum CliReply {
    /// To `can_use_tool`.
    Tool(Decision),
    /// To `elicitation`.
    Elicitation(ElicitationAnswer),
}

impl Inquiry {
    /// The questions in a call of `AskUserQuestion` or `ExitPlanMode`; nothing for other tools. `plan` is the text of the
    /// plan, which newer CLIs keep in a file and not in the call.
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

    /// Whether calls of a tool are questions.
    pub fn is_asked_by(tool_name: &str) -> bool {
        matches!(tool_name, "AskUserQuestion" | "ExitPlanMode")
    }

    /// The question of an MCP server.
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

    /// What is wrong with answers; nothing if they can be sent.
    pub fn check(&self, answers: &[Reply]) -> Vec<Invalid> {
        validate::answers(self, answers)
    }

    /// What the CLI is told of an outcome. What was not answered is told as such, and never as a refusal.
    pub fn cli_reply(&self, outcome: &Outcome<Replied>) -> CliReply {
        let answers = match outcome.answer() {
            Some(Replied::Answers(answers)) if self.check(answers).is_empty() => Some(answers.as_slice()),
            _ => None,
        };
        match (&self.origin, answers) {
            (Origin::Model(input), Some(answers)) => {
                CliReply::Tool(Decision::allow_with(ask_user::with_answers(self, input, answers)))
            }
            (Origin::Plan(input), Some(answers)) => CliReply::Tool(plan::decision(self, input, answers)),
            (Origin::Model(_) | Origin::Plan(_), None) => CliReply::Tool(Decision::deny(words(outcome))),
            (Origin::Form(_) | Origin::Address(_), Some(answers)) => {
                CliReply::Elicitation(form::answer(self, answers))
            }
            (Origin::Form(_) | Origin::Address(_), None) => CliReply::Elicitation(match outcome {
                Outcome::Answered { .. } => ElicitationAnswer::decline(),
                _ => ElicitationAnswer::cancel(),
            }),
        }
    }

    /// What was answered to a question, without blank answers.
    pub(super) fn answered<'a>(&self, field: &Field, answers: &'a [Reply]) -> Vec<&'a str> {
        let texts = answers.iter().filter(|reply| self.is_for(reply, field)).flat_map(|reply| &reply.answer);
        texts.map(|text| text.trim()).filter(|text| !text.is_empty()).collect()
    }

    /// Whether a reply is for a question: by its id, else by its text.
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
    /// An answer.
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
    /// A question with choices.
    pub(super) fn choice(
        id: impl Into<String>,
        text: impl Into<String>,
        kind: QuestionType,
        choices: Vec<Choice>,
    ) -> Self {
        let options = Some(choices.iter().map(|choice| choice.label.clone()).collect());
        let question =
            Question { id: id.into(), text: text.into(), question_type: kind, options, required: true };
        Field { question, header: None, choices, takes_other: true, default: None, shape: Shape::Text }
    }

    /// A question that is answered in words.
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
            shape: Shape::Text,
        }
    }
}

/// What the model is told where there are no answers.
fn words(outcome: &Outcome<Replied>) -> &'static str {
    match outcome {
        Outcome::Answered { .. } => "The user declined to answer",
        Outcome::TimedOut => "Nobody answered in time; nobody has declined",
        Outcome::Disconnected => {
            "The question lost its connection before anybody answered; nobody has declined"
        }
        Outcome::Cancelled => "The question was taken back",
        Outcome::Lost => "The program ended before anybody answered; nobody has declined",
    }
}
