//! Scopes of approvals, and resolutions of pending requests.

use serde::{Deserialize, Serialize};

use super::closed_enums;

// Closed on purpose: an approval must not be taken for one of another scope.
/// Scope of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PermissionScope {
    /// This call only.
    #[default]
    Once,
    /// All calls that the same grant covers, until the session ends.
    Session,
    /// All calls that a rule in the settings covers. Requires the scope `always` and the digest.
    Always,
}

impl PermissionScope {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            PermissionScope::Once => "once",
            PermissionScope::Session => "session",
            PermissionScope::Always => "always",
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
