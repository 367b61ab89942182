//! Control frames, taken apart.

use crate::json::{Cursor, Extra, Json, Misfit, Raw, Text};

/// A control frame, taken apart far enough to know its style.
pub(super) struct Parts<'a> {
    frame: Raw<'a>,
    /// The object with the payload, if it is nested.
    pub(super) payload: Option<Raw<'a>>,
}

impl<'a> Parts<'a> {
    /// `key` is where a nested payload stands.
    ///
    /// A flat payload may have a member of that name too: then the `subtype` stands outside of it.
    pub(super) fn of(frame: Raw<'a>, key: &str) -> Self {
        let flat = frame.get("subtype").is_some();
        let payload = frame
            .get(key)
            .filter(|payload| payload.is_object() && (!flat || payload.get("subtype").is_some()));
        Parts { frame, payload }
    }

    /// A string of the frame that must be there.
    pub(super) fn string(&self, key: &str) -> Result<String, Misfit> {
        string(self.frame, key)
    }

    /// The members of the frame, all but `taken`.
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

/// A string of an object that must be there.
pub(super) fn string(object: Raw<'_>, key: &str) -> Result<String, Misfit> {
    let value = object.get(key).ok_or_else(|| Misfit::missing(key))?;
    match value.text() {
        Some(text) => Ok(Text::get(text).into_owned()),
        None => Err(Misfit::here(&mut value.cursor(), "a string").within(key)),
    }
}

/// An object of the members that follow, all but `consumed`.
pub(super) fn rest(cursor: &mut Cursor<'_>, consumed: &[&str]) -> Json {
    let mut members = Extra::default();
    while let Some((key, member)) = cursor.next_member() {
        if !consumed.contains(&&*key.get()) {
            members.keep(member);
        }
    }
    object_of(&members)
}

/// An object of these members.
pub(super) fn object_of(members: &Extra) -> Json {
    Raw::new(&format!("{{{}}}", members.text())).to_json()
}
