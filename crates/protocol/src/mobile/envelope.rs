//! Envelope of every message: a type, an id and a timestamp.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::MobileBody;

/// One message, in either direction.
///
/// `id` and `timestamp` are optional both ways, since some messages travel without them.
/// Ignore messages with an unknown `type`: more may be added.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct MobileMessage {
    /// Id of the message, quoted by replies.
    pub id: Option<String>,
    /// Time of sending, in milliseconds since the epoch.
    pub timestamp: Option<i64>,
    /// Body; its JSON keys are next to `type`, `id` and `timestamp`.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    #[cfg_attr(feature = "typescript", ts(flatten))]
    pub body: MobileBody,
}

impl MobileMessage {
    /// A message without id and timestamp.
    pub fn new(body: impl Into<MobileBody>) -> Self {
        Self { id: None, timestamp: None, body: body.into() }
    }

    /// The same message with an id and a time of sending, in milliseconds since the epoch.
    #[must_use]
    pub fn stamped(self, id: impl Into<String>, timestamp: i64) -> Self {
        Self { id: Some(id.into()), timestamp: Some(timestamp), ..self }
    }

    /// The `type` of the message.
    pub fn kind(&self) -> &str {
        self.body.kind()
    }
}

impl Serialize for MobileMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body.write(self.id.as_deref(), self.timestamp, serializer)
    }
}

// Read through a `Value` and not with `flatten` and `tag`: those lose numbers in a build in which another
// crate enables `arbitrary_precision`.
impl<'de> Deserialize<'de> for MobileMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = Map::deserialize(deserializer)?;
        let kind = match object.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(_) => return Err(D::Error::custom("`type` is not a string")),
            None => return Err(D::Error::missing_field("type")),
        };
        if !MobileBody::KINDS.contains(&kind.as_str()) {
            return Ok(Self {
                id: object.get("id").and_then(Value::as_str).map(str::to_owned),
                timestamp: object.get("timestamp").and_then(Value::as_i64),
                body: MobileBody::Unknown(object),
            });
        }
        Ok(Self {
            id: take(&mut object, "id")?,
            timestamp: take(&mut object, "timestamp")?,
            body: MobileBody::read(&kind, object).map_err(D::Error::custom)?,
        })
    }
}

/// Serializes a body together with its envelope.
#[derive(Serialize)]
pub(super) struct Stamped<'a, T> {
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<i64>,
    #[serde(flatten)]
    pub(super) body: &'a T,
}

/// Removes an optional key from an object; absent and `null` both give `None`.
pub(super) fn take<T, E>(object: &mut Map<String, Value>, key: &str) -> Result<Option<T>, E>
where
    T: DeserializeOwned,
    E: serde::de::Error,
{
    object.remove(key).map_or(Ok(None), |value| {
        serde_json::from_value(value).map_err(|error| E::custom(format_args!("`{key}`: {error}")))
    })
}
