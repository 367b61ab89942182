//! Details of permission requests, and their resolution.

use serde_json::Value;

use super::{closed_enums, events};
use crate::mobile::RiskLevel;

events! {
    /// Details of a permission request; sent just before `PermissionRequired`, or before
    /// `BatchPermissionRequired` once per request of the batch, in the same order.
    pub struct PermissionDetails {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waits.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
            /// Input of the call.
            input: Value,
            /// Risk of the call.
            risk: RiskLevel,
        }
        optional {
            /// Batch of the request.
            batch_id: String,
            /// Every rule that the scope `always` adds; none or empty if that scope is not offered.
            suggestions: Value,
            /// The request as text, from the agent.
            title: String,
            /// More text about the request, from the agent.
            description: String,
            /// Digest of the request; an answer that quotes it cannot apply to another request.
            digest: String,
            /// Sub-agent that sent the request.
            agent_id: String,
            /// Path outside of the allowed folders.
            blocked_path: String,
            /// Reason for the request.
            decision_reason: String,
            /// Deadline at which it is decided without an answer, in milliseconds since the epoch.
            deadline_ms: i64,
        }
    }

    /// A permission request was resolved.
    pub struct PermissionResolved {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waited.
            tool_use_id: String,
            /// The resolution.
            outcome: Resolution,
        }
        optional {
            /// Batch of the request.
            batch_id: String,
            /// Name of the decider: a person, a policy or `timeout`.
            by: String,
            /// The rule that decided.
            rule: String,
            /// Scope of the decision: `once`, `session` or `always`.
            scope: String,
            /// Message that came with the decision.
            reason: String,
            /// Input that the tool receives instead of the requested one, when the answer changed it.
            updated_input: Value,
        }
    }
}

closed_enums! {
    /// Resolution of a pending request.
    pub enum Resolution {
        /// The call was allowed.
        Allowed,
        /// The call was denied.
        Denied,
        /// The questions were answered.
        Answered,
        /// No answer arrived in time.
        TimedOut,
        /// The agent disconnected before an answer.
        Disconnected,
        /// The agent withdrew the request.
        Cancelled,
        /// An answer was given, and its delivery is unknown.
        Lost,
    }
}
