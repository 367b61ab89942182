//! Parsing of control frames into envelope and payload.

use crate::json::{Cursor, Extra, Json, Misfit, Raw, Text};

/// A control frame, parsed far enough to determine its style.
pub(super) struct FrameParts<'a> {
    frame: Raw<'a>,
    /// Object with the payload, if it is nested.
    pub(super) payload: Option<Raw<'a>>,
}

impl<'a> FrameParts<'a> {
    /// Parses a frame whose nested payload would be under `key`.
    ///
    /// A flat payload may have a member of that name too: then the `subtype` is outside of it.
    pub(super) fn of(frame: Raw<'a>, key: &str) -> Self {
        let flat = frame.get("subtype").is_some();
        let payload = frame
            .get(key)
            .filter(|payload| payload.is_object() && (!flat || payload.get("subtype").is_some()));
        FrameParts { frame, payload }
    }

    /// A required string of the frame.
    pub(super) fn string(&self, key: &str) -> Result<String, Misfit> {
        string(self.frame, key)
    }

    /// The members of the frame, except `taken`.
    pub(super) fn beside(&self, taken: &[&str]) -> Extra {
        let mut envelope = Extra::default();
        let mut cursor = self.frame.cursor();
        cursor.enter_object();
        while let Some((key, member)) = cursor.next_member() {
            if !taken.contains(&&*key.get()) {
                envelope.keep(member);
            }
        }
        envelope
    }
}

/// A required string of an object.
pub(super) fn string(object: Raw<'_>, key: &str) -> Result<String, Misfit> {
    let value = object.get(key).ok_or_else(|| Misfit::missing(key))?;
    match value.text() {
        Some(text) => Ok(Text::get(text).into_owned()),
        None => Err(Misfit::here(&mut value.cursor(), "a string").within(key)),
    }
}

/// Object of the remaining members, except `consumed`.
pub(super) fn rest(cursor: &mut Cursor<'_>, consumed: &[&str]) -> Json {
    let mut members = Extra::default();
    while let Some((key, member)) = cursor.next_member() {
        if !consumed.contains(&&*key.get()) {
            members.keep(member);
        }
    }
    object_of(&members)
}

/// Object of these members.
pub(super) fn object_of(members: &Extra) -> Json {
    Raw::new(&format!("{{{}}}", members.text())).to_json()
}
