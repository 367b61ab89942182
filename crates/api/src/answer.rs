//! Pending permission requests and questions, and the answers to them.

use serde_json::Value;

use super::{closed_enums, shapes};
use tidings_protocol::ui::{
    AskUserQuestionsRequest, PermissionDetails, PermissionRequest, PermissionScope, QuestionDetails,
};

shapes! {
    /// A pending permission request.
    pub struct PendingPermission {
        /// The key of the session.
        pub session: String,
        /// The number of the session.
        pub handle: i64,
        /// Id of the request, quoted by the answer.
        pub tool_use_id: String,
        /// Cursor of the event that announced it.
        pub cursor: String,
        /// Time of the request.
        pub opened_at: String,
        /// The request in the form of the UI wire.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub request: Option<PermissionRequest>,
        /// All details of the request, including the digest that some answers must repeat.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub details: PermissionDetails,
    }

    /// A pending set of questions.
    pub struct PendingQuestion {
        /// The key of the session.
        pub session: String,
        /// The number of the session.
        pub handle: i64,
        /// Id of the questions, quoted by the answer.
        pub tool_use_id: String,
        /// Cursor of the event that announced them.
        pub cursor: String,
        /// Time of the request.
        pub opened_at: String,
        /// The questions.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub request: AskUserQuestionsRequest,
        /// All details of the questions.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub details: QuestionDetails,
        /// Plan that waits for approval.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub plan: Option<String>,
    }

    /// Answer to a permission request.
    pub struct PermissionAnswer {
        /// Allow or deny.
        pub decision: Choice,
        /// Scope of an approval.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<PermissionScope>"))]
        pub scope: PermissionScope,
        /// Input that replaces the one from the model. Requires the scope `edit` and the digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub updated_input: Option<Value>,
        /// Message for the model when the call is denied.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub message: Option<String>,
        /// True if a denial also ends the turn.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub interrupt: bool,
        /// Digest of the request as it was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub digest: Option<String>,
        /// Idempotency key: the same command sent again gets the same answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// Answers to a batch of permission requests.
    pub struct BatchAnswer {
        /// One per request, identified by index or id.
        pub answers: Vec<BatchAnswerItem>,
        /// Idempotency key of this command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// Answer to one permission request of a batch.
    pub struct BatchAnswerItem {
        /// Index in the batch, from zero.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub index: Option<u64>,
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tool_use_id: Option<String>,
        /// The answer.
        #[serde(flatten)]
        pub answer: PermissionAnswer,
    }

    /// Result of an answer.
    pub struct AnswerResult {
        /// Id of the request that was answered.
        pub tool_use_id: String,
        /// Outcome: `allowed`, `denied`, `answered`, `timed_out`, `disconnected`, `cancelled` or `lost`.
        pub outcome: String,
        /// Name of the client or policy that answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<String>,
        /// Sequence number of the event that announces the outcome.
        pub seq: u64,
        /// Cursor of that event.
        pub cursor: String,
    }

    /// Results of the answers to a batch. A request that was already answered has the result of the earlier
    /// answer.
    pub struct BatchAnswered {
        /// One for each answer.
        pub results: Vec<AnswerResult>,
    }

    /// Answers to a set of questions, or its cancellation.
    #[derive(Default)]
    pub struct QuestionAnswer {
        /// The answers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<QuestionReply>>"))]
        pub answers: Vec<QuestionReply>,
        /// True if the user declines to answer.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub cancel: bool,
        /// Idempotency key of this command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// The answer to one question.
    pub struct QuestionReply {
        /// The id of the question.
        pub question_id: String,
        /// Chosen options or free text; several entries where several options may be chosen.
        pub answer: Vec<String>,
    }
}

closed_enums! {
    /// Decision about a permission request.
    pub enum Choice {
        /// The tool may run.
        Allow,
        /// The tool may not run.
        Deny,
    }
}

impl PermissionAnswer {
    /// The decision about this call only, without anything else.
    pub fn new(decision: Choice) -> Self {
        PermissionAnswer {
            decision,
            scope: PermissionScope::Once,
            updated_input: None,
            message: None,
            interrupt: false,
            digest: None,
            client_id: None,
        }
    }
}
