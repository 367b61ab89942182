//! What waits for a person, and what the person says.

use serde_json::Value;

use super::{shapes, words};
use crate::ui::{AskUserQuestionsRequest, PermissionDetails, PermissionRequest, QuestionDetails};

shapes! {
    /// A permission that waits for an answer.
    pub struct PendingPermission {
        /// The key of the session.
        pub session: String,
        /// The number of the session.
        pub handle: i64,
        /// Names it in the answer.
        pub tool_use_id: String,
        /// The place of the event that told of it.
        pub cursor: String,
        /// When it was asked.
        pub opened_at: String,
        /// The question in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub request: Option<PermissionRequest>,
        /// Everything that is known about it, with the digest that some answers have to repeat.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub details: PermissionDetails,
    }

    /// Questions that wait for an answer.
    pub struct PendingQuestion {
        /// The key of the session.
        pub session: String,
        /// The number of the session.
        pub handle: i64,
        /// Names it in the answer.
        pub tool_use_id: String,
        /// The place of the event that told of it.
        pub cursor: String,
        /// When it was asked.
        pub opened_at: String,
        /// The questions.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub request: AskUserQuestionsRequest,
        /// Everything else that is known about them.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub details: QuestionDetails,
        /// The plan that is to be approved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub plan: Option<String>,
    }

    /// An answer to a permission.
    pub struct PermissionAnswer {
        /// Yes or no.
        pub decision: Choice,
        /// How far a yes reaches.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<PermissionScope>"))]
        pub scope: PermissionScope,
        /// What the tool gets instead of what the model asked for. It needs the scope `edit` and the digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub updated_input: Option<Value>,
        /// What the model is told with a no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub message: Option<String>,
        /// Whether a no ends the turn.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub interrupt: bool,
        /// The digest of what was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub digest: Option<String>,
        /// The id of this command: sent again, it gets the same answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// Answers to the permissions of a batch.
    pub struct BatchAnswer {
        /// One for each, by its place or its name.
        pub answers: Vec<BatchAnswerItem>,
        /// The id of this command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// An answer to one permission of a batch.
    pub struct BatchAnswerItem {
        /// Its place in the batch, from zero.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub index: Option<u64>,
        /// Its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tool_use_id: Option<String>,
        /// The answer.
        #[serde(flatten)]
        pub answer: PermissionAnswer,
    }

    /// What became of an answer.
    pub struct AnswerResult {
        /// What was answered.
        pub tool_use_id: String,
        /// How it ended: `allowed`, `denied`, `answered`, `timed_out`, `disconnected`, `cancelled` or `lost`.
        pub outcome: String,
        /// Who answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<String>,
        /// The number of the event that tells of it.
        pub seq: u64,
        /// The place of that event.
        pub cursor: String,
    }

    /// What became of the answers to a batch. Those that somebody answered before have the answer of the winner.
    pub struct BatchAnswered {
        /// One for each answer.
        pub results: Vec<AnswerResult>,
    }

    /// Answers to questions, or none.
    #[derive(Default)]
    pub struct QuestionAnswer {
        /// The answers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<QuestionReply>>"))]
        pub answers: Vec<QuestionReply>,
        /// The person does not want to answer.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub cancel: bool,
        /// The id of this command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// The answer to one question.
    pub struct QuestionReply {
        /// The id of the question.
        pub question_id: String,
        /// What was chosen or written; several where several may be chosen.
        pub answer: Vec<String>,
    }
}

words! {
    /// Yes or no.
    pub enum Choice {
        /// The tool may run.
        Allow,
        /// It may not.
        Deny,
    }

    /// How far a yes reaches.
    #[derive(Default)]
    pub enum PermissionScope {
        /// This call.
        #[default]
        Once,
        /// What the same grant covers, until the session ends.
        Session,
        /// What a rule in the settings covers. It needs the scope `always` and the digest.
        Always,
    }
}
