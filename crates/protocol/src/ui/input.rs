//! Input to an agent.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TurnId;

/// One message from a user to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ControllerInputPayload {
    /// Session that receives it.
    pub session_id: i64,
    /// Text that the user wrote.
    pub content: String,
    /// The user's turn; count up by one per message.
    pub turn_id: TurnId,
    /// Arbitrary data of the client, passed on unread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub metadata: Option<HashMap<String, Value>>,
}

impl ControllerInputPayload {
    /// A message without metadata.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use serde_json::json;
    /// use tidings_protocol::ui::{ControllerInputPayload, TurnId};
    ///
    /// let plain = ControllerInputPayload::data(1, "Is it raining?", TurnId::new_user_turn(1));
    /// assert_eq!(plain.metadata, None);
    ///
    /// // With metadata, name the fields.
    /// let full = ControllerInputPayload {
    ///     metadata: Some(HashMap::from([("client_version".to_owned(), json!("1.2.3"))])),
    ///     ..plain
    /// };
    /// # assert_eq!(full.turn_id.to_string(), "u1");
    /// ```
    pub fn data(session_id: i64, content: impl Into<String>, turn_id: TurnId) -> Self {
        Self { session_id, content: content.into(), turn_id, metadata: None }
    }
}
