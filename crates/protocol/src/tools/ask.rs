use std::collections::BTreeMap;

use crate::json::{Json, object};

object! {
    /// Questions for the user.
    pub struct AskUserQuestionInput {
        /// One to four questions.
        req questions: Vec<Question>,
        /// The answers by question, put in by whoever asked the user.
        opt answers: BTreeMap<String, Json>,
        /// What the user noted by question.
        opt annotations: BTreeMap<String, Annotation>,
        /// Where the questions come from.
        opt metadata: Json,
    }

    /// One question with the answers to choose from.
    pub struct Question {
        /// The question; the answers are kept under it.
        req question: String,
        /// A word for a label, of at most twelve characters.
        opt header: String,
        /// What the user can choose.
        opt options: Vec<QuestionOption>,
        /// Whether the user can choose several.
        opt multi_select: bool as "multiSelect",
    }

    /// One answer to choose.
    pub struct QuestionOption {
        /// The answer.
        req label: String,
        /// What it would mean.
        opt description: String,
        /// Something to look at before choosing it.
        opt preview: String,
    }

    /// What belongs to an answer besides.
    pub struct Annotation {
        /// The preview of the answer that was chosen.
        opt preview: String,
        /// What the user noted.
        opt notes: String,
        /// Why there is no answer: `skipped`, `replied_in_chat` or `dismissed`.
        opt unanswered: String,
    }

    /// What the user answered.
    pub struct AskUserQuestionOutput {
        /// The questions.
        opt questions: Vec<Question>,
        /// The answers by question, as strings; several chosen are joined by commas.
        opt answers: BTreeMap<String, Json>,
        /// What the user wrote instead of choosing.
        opt response: String,
        /// What the user noted by question.
        opt annotations: BTreeMap<String, Annotation>,
        /// The milliseconds after which the user was taken to be away.
        opt afk_timeout_ms: u64 as "afkTimeoutMs",
    }
}
