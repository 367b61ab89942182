//! The tool that asks the user questions.

use std::collections::BTreeMap;

use crate::json::{Json, object};

object! {
    /// Questions for the user.
    pub struct AskUserQuestionInput {
        /// One to four questions.
        req questions: Vec<AskedQuestion>,
        /// Answers by question, filled in by the client that asked the user.
        opt answers: BTreeMap<String, Json>,
        /// Notes of the user, by question.
        opt annotations: BTreeMap<String, Annotation>,
        /// Origin of the questions.
        opt metadata: Json,
    }

    /// One question with its options.
    pub struct AskedQuestion {
        /// Text of the question; key of its answer.
        req question: String,
        /// Label of at most twelve characters.
        opt header: String,
        /// Options.
        opt options: Vec<QuestionOption>,
        /// True if several options can be chosen.
        opt multi_select: bool as "multiSelect",
    }

    /// One option of a question.
    pub struct QuestionOption {
        /// Text of the option.
        req label: String,
        /// Explanation of the option.
        opt description: String,
        /// Preview of its result.
        opt preview: String,
    }

    /// Annotation of an answer.
    pub struct Annotation {
        /// Preview of the chosen option.
        opt preview: String,
        /// Note of the user.
        opt notes: String,
        /// Reason of a missing answer: `skipped`, `replied_in_chat` or `dismissed`.
        opt unanswered: String,
    }

    /// Answers of the user.
    pub struct AskUserQuestionOutput {
        /// The questions.
        opt questions: Vec<AskedQuestion>,
        /// Answers by question, as strings; several chosen options are joined by commas.
        opt answers: BTreeMap<String, Json>,
        /// Free text of the user instead of a choice.
        opt response: String,
        /// Notes of the user, by question.
        opt annotations: BTreeMap<String, Annotation>,
        /// Timeout in milliseconds after which the user was considered away.
        opt afk_timeout_ms: u64 as "afkTimeoutMs",
    }
}
