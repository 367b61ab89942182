//! Questions of an agent to the user.

use serde::{Deserialize, Serialize};

/// The questions of one call, answered together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AskUserQuestionsRequest {
    /// In display order.
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Question {
    /// Id of the question in the answer; unique within its request.
    pub id: String,
    /// The question as text.
    pub text: String,
    /// Kind of answer expected.
    pub question_type: QuestionType,
    /// Options, for the two choice types.
    pub options: Option<Vec<String>>,
    /// True if an answer is mandatory.
    pub required: bool,
}

/// Kind of answer that a question expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub enum QuestionType {
    /// One of the options.
    SingleChoice,
    /// Any number of the options.
    MultiChoice,
    /// Free text.
    FreeText,
}
