//! Permission requests and their answers.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::envelope::{Stamped, take};

/// A permission request of a tool. The answer quotes the id of the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct MobilePermissionRequest {
    /// Name of the tool.
    pub tool: String,
    /// One-word action of the tool.
    pub action: String,
    /// Details for the decision, such as `file` and `preview`.
    #[serde(default)]
    pub details: Map<String, Value>,
    /// Risk of the action.
    #[serde(default)]
    pub risk: RiskLevel,
    /// Seconds until it is decided without the phone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

// Closed on purpose: the policy for unattended requests has to decide about every level.
/// Risk of an action.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RiskLevel {
    /// Reads only.
    Low,
    /// Changes something.
    #[default]
    Medium,
    /// Can lose something.
    High,
}

/// The answer to a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PermissionResponse {
    /// Id of the request.
    pub request_id: String,
    /// True if the tool may run.
    pub approved: bool,
    /// True if the decision also applies to similar requests from now on.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub remember: bool,
}

/// All pending permission requests, for a phone that reconnects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PendingPermissionsMessage {
    /// The requests, oldest first.
    pub permissions: Vec<MobilePendingPermission>,
}

/// A pending request, with the keys of the original message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = add_type))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(
    feature = "typescript",
    ts(type = "{ type: \"permission_request\", id: string, timestamp?: number } & MobilePermissionRequest")
)]
pub struct MobilePendingPermission {
    /// Id of the request, quoted by the answer.
    pub id: String,
    /// Time of the request, in milliseconds since the epoch.
    pub timestamp: Option<i64>,
    /// The request.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub request: MobilePermissionRequest,
}

impl Serialize for MobilePendingPermission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stamped {
            kind: "permission_request",
            id: Some(&self.id),
            timestamp: self.timestamp,
            body: &self.request,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MobilePendingPermission {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;

        let mut object = Map::deserialize(deserializer)?;
        Ok(Self {
            id: take(&mut object, "id")?.ok_or_else(|| D::Error::missing_field("id"))?,
            timestamp: take(&mut object, "timestamp")?,
            request: serde_json::from_value(Value::Object(object)).map_err(D::Error::custom)?,
        })
    }
}

#[cfg(feature = "schema")]
fn add_type(schema: &mut schemars::Schema) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(
            "type".to_owned(),
            serde_json::json!({ "type": "string", "const": "permission_request" }),
        );
    }
}
