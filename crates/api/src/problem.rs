//! Error responses, as in RFC 9457.

use super::{AnswerResult, shapes};

shapes! {
    /// An error.
    pub struct Problem {
        /// URI of the documentation of the code.
        #[serde(rename = "type")]
        pub kind: String,
        /// Title of the code.
        pub title: String,
        /// HTTP status of the response.
        pub status: u16,
        /// Error code for programs.
        pub code: String,
        /// Error message to show.
        pub detail: String,
        /// Advice on how to fix it.
        #[serde(default)]
        pub hint: String,
        /// True if the same request may succeed later.
        #[serde(default)]
        pub retryable: bool,
        /// Delay before the next attempt, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retry_after_ms: Option<u64>,
        /// Id of the request in the log.
        #[serde(default)]
        pub request_id: String,
        /// The earlier answer, if the request was already answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub winner: Option<AnswerResult>,
        /// Key of the session that stands in the way: it has open what the request wanted to use.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
    }
}
