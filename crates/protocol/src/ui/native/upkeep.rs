//! What a session goes through besides its turns.

use super::events;

events! {
    /// History was summarised to make room.
    pub struct Compacted {
        required {
            /// Session it belongs to.
            session_id: i64,
        }
        optional {
            /// What brought it about: `manual` or `auto`.
            trigger: String,
            /// Tokens of the history before.
            tokens_before: u64,
            /// Tokens of the history after.
            tokens_after: u64,
        }
    }

    /// How the limits of the person's plan stand.
    pub struct RateLimit {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// `allowed`, `allowed_warning` or `rejected`.
            status: String,
        }
        optional {
            /// Which limit, such as `five_hour`.
            kind: String,
            /// How much of it is used, from 0 to 1.
            utilization: f64,
            /// When it starts anew, in seconds since the epoch.
            resets_at: i64,
            /// Whether use beyond the plan is being paid for.
            is_using_overage: bool,
        }
    }

    /// A call of the API failed and will be tried again.
    pub struct Retrying {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Which try comes next, from 1.
            attempt: u64,
        }
        optional {
            /// How many there will be at most.
            max_attempts: u64,
            /// How long until then.
            delay_ms: u64,
            /// The HTTP status; absent when there was no answer.
            status: u16,
            /// What went wrong, in a word.
            error: String,
            /// The sub-agent whose call it is.
            agent_id: String,
        }
    }
}
