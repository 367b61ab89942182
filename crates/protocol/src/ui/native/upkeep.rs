//! Compaction, rate limits and retries.

use super::events;

events! {
    /// The history was compacted.
    pub struct Compacted {
        required {
            /// Session it belongs to.
            session_id: i64,
        }
        optional {
            /// Trigger: `manual` or `auto`.
            trigger: String,
            /// Tokens of the history before.
            tokens_before: u64,
            /// Tokens of the history after.
            tokens_after: u64,
        }
    }

    /// State of the rate limits of the user's plan.
    pub struct RateLimit {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// `allowed`, `allowed_warning` or `rejected`.
            status: String,
        }
        optional {
            /// Name of the limit, such as `five_hour`.
            kind: String,
            /// Used share, from 0 to 1.
            utilization: f64,
            /// Time of the reset, in seconds since the epoch.
            resets_at: i64,
            /// True if paid use beyond the plan is active.
            is_using_overage: bool,
        }
    }

    /// An API call failed and will be retried.
    pub struct Retrying {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Number of the next attempt, from 1.
            attempt: u64,
        }
        optional {
            /// Maximum number of attempts.
            max_attempts: u64,
            /// Delay before the next attempt, in milliseconds.
            delay_ms: u64,
            /// HTTP status; absent when there was no response.
            status: u16,
            /// Short name of the error.
            error: String,
            /// Sub-agent that made the call.
            agent_id: String,
        }
    }
}
