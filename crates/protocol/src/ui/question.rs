//! What an agent asks a person.

use serde::{Deserialize, Serialize};

/// The questions of one call, to be answered together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AskUserQuestionsRequest {
    /// In the order to be shown.
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Question {
    /// Names the question in the answer; unique within its request.
    pub id: String,
    /// The question in words.
    pub text: String,
    /// How it is to be answered.
    pub question_type: QuestionType,
    /// What can be chosen, for the two choice types.
    pub options: Option<Vec<String>>,
    /// Whether it must be answered.
    pub required: bool,
}

/// How a question is to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub enum QuestionType {
    /// One of the options.
    SingleChoice,
    /// Any number of the options.
    MultiChoice,
    /// Words of the person's own.
    FreeText,
}
