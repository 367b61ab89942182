//! Accessors for the members of frames.

use serde_json::Value;
use tidings_protocol::FrameRef;
use tidings_protocol::json::Raw;

/// Access to the members of a JSON object.
pub(super) trait Members<'a> {
    fn member(&self, key: &str) -> Option<Raw<'a>>;

    /// The member as a string.
    fn string(&self, key: &str) -> Option<String> {
        self.member(key)?.text().map(|text| text.get().into_owned())
    }

    /// The member as a non-negative integer.
    fn count(&self, key: &str) -> Option<u64> {
        let raw = self.member(key)?;
        raw.u64().or_else(|| raw.f64().and_then(whole))
    }

    /// True if the member is `true`.
    fn flag(&self, key: &str) -> bool {
        self.member(key).and_then(Raw::bool) == Some(true)
    }

    /// The member as a list of strings.
    fn strings(&self, key: &str) -> Vec<String> {
        let items = self.member(key).into_iter().flat_map(Raw::items);
        items.filter_map(|item| item.text().map(|text| text.get().into_owned())).collect()
    }
}

impl<'a> Members<'a> for FrameRef<'a> {
    fn member(&self, key: &str) -> Option<Raw<'a>> {
        self.get(key).filter(|raw| !raw.is_null())
    }
}

impl<'a> Members<'a> for Raw<'a> {
    fn member(&self, key: &str) -> Option<Raw<'a>> {
        self.get(key).filter(|raw| !raw.is_null())
    }
}

/// The value as a `serde_json` tree; as a string of its JSON text if a tree cannot hold it (too deep, or a
/// number out of range).
pub(super) fn tree(raw: Raw<'_>) -> Value {
    raw.value().unwrap_or_else(|_| Value::String(raw.as_str().to_owned()))
}

/// A non-negative number, rounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and a negative number does not get here"
)]
pub(super) fn whole(number: f64) -> Option<u64> {
    (number >= 0.0).then(|| number.round() as u64)
}
