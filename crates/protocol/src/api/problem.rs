//! What goes wrong, as in RFC 9457.

use super::{AnswerResult, shapes};

shapes! {
    /// Something went wrong.
    pub struct Problem {
        /// Where the code is explained.
        #[serde(rename = "type")]
        pub kind: String,
        /// The code in words.
        pub title: String,
        /// The status of the answer.
        pub status: u16,
        /// To branch on.
        pub code: String,
        /// What happened, to show.
        pub detail: String,
        /// What to do about it.
        #[serde(default)]
        pub hint: String,
        /// Whether the same may work later.
        #[serde(default)]
        pub retryable: bool,
        /// When to try again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retry_after_ms: Option<u64>,
        /// Names the request in the log.
        #[serde(default)]
        pub request_id: String,
        /// The answer that was faster, where somebody has answered before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub winner: Option<AnswerResult>,
    }
}
