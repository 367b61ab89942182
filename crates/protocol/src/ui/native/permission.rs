//! What is known about a permission besides the request, and how it was decided.

use serde_json::Value;

use super::{events, words};
use crate::mobile::RiskLevel;

events! {
    /// What a request for permission has no room for; comes just before `PermissionRequired`,
    /// or before `BatchPermissionRequired` once for each request of the batch, in the same order.
    pub struct PermissionDetails {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waits.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
            /// What it was called with.
            input: Value,
            /// How much can go wrong.
            risk: RiskLevel,
        }
        optional {
            /// Batch that it is asked in.
            batch_id: String,
            /// Rules that a yes may add, as the agent proposes them.
            suggestions: Value,
            /// The request in the agent's words.
            title: String,
            /// More of it in the agent's words.
            description: String,
            /// What exactly is being asked, as a fingerprint; an answer that quotes it cannot hit another request.
            digest: String,
            /// The sub-agent that asks.
            agent_id: String,
            /// The path that is out of bounds.
            blocked_path: String,
            /// Why the agent asks.
            decision_reason: String,
            /// When it will be decided without an answer, in milliseconds since the epoch.
            deadline_ms: i64,
        }
    }

    /// A request for permission waits no longer.
    pub struct PermissionResolved {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waited.
            tool_use_id: String,
            /// How it was decided.
            outcome: Resolution,
        }
        optional {
            /// Batch that it was asked in.
            batch_id: String,
            /// Who or what decided, such as a person's name, a policy or `timeout`.
            by: String,
            /// The rule that decided.
            rule: String,
            /// How far the answer reaches: `once`, `session` or `always`.
            scope: String,
            /// What was said about it.
            reason: String,
            /// The input that the tool gets instead of the one in the request, when the answer changed it.
            updated_input: Value,
        }
    }
}

words! {
    /// How something that waited for a person was settled.
    pub enum Resolution {
        /// It may be done.
        Allowed,
        /// It may not.
        Denied,
        /// The questions were answered.
        Answered,
        /// Nobody answered in time.
        TimedOut,
        /// The agent went away before an answer.
        Disconnected,
        /// The agent no longer asks.
        Cancelled,
        /// An answer was given, and nobody knows whether it arrived.
        Lost,
    }
}
