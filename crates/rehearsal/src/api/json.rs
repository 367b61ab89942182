//! A JSON object whose members keep their order, and may be invalid text on purpose.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::script::Table;

/// A JSON object whose members keep the order of the API.
///
/// Members may be invalid JSON text, since a script may request exactly that.
#[derive(Debug, Clone, Default)]
pub(super) struct Object(Vec<(String, Member)>);

#[derive(Debug, Clone)]
enum Member {
    Json(String),
    Object(Object),
}

impl Object {
    /// An object of the API, which begins with its type.
    pub(super) fn typed(kind: &str) -> Self {
        Object::default().with("type", kind)
    }

    /// Adds a member, or replaces its value.
    pub(super) fn with(self, key: &str, value: impl Serialize) -> Self {
        self.with_json(key, json(&value))
    }

    /// Adds a member given as JSON text.
    pub(super) fn with_json(mut self, key: &str, json: String) -> Self {
        self.set(key, Member::Json(json));
        self
    }

    /// Adds an object as a member.
    pub(super) fn with_object(mut self, key: &str, object: Object) -> Self {
        self.set(key, Member::Object(object));
        self
    }

    /// Appends the members of `other`.
    pub(super) fn followed_by(mut self, other: Object) -> Self {
        other.0.into_iter().for_each(|(key, member)| self.set(&key, member));
        self
    }

    /// Sets all members of `table`; objects are merged member by member.
    pub(super) fn merge<'a>(&mut self, table: impl IntoIterator<Item = (&'a String, &'a Value)>) {
        for (key, value) in table {
            let present = self.0.iter_mut().find(|(name, _)| name == key).map(|(_, member)| member);
            match (present, value) {
                (Some(Member::Object(object)), Value::Object(table)) => object.merge(table),
                (_, Value::Object(table)) => self.set(key, Member::Object(Object::from(table))),
                (_, value) => self.set(key, Member::Json(json(value))),
            }
        }
    }

    fn set(&mut self, key: &str, member: Member) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, present)) => *present = member,
            None => self.0.push((key.to_owned(), member)),
        }
    }
}

impl From<&Table> for Object {
    /// Puts `type` first, as in all objects of the API; tables do not preserve order.
    fn from(table: &Table) -> Self {
        let mut object = Object::default();
        object.merge(table.iter().filter(|(key, _)| *key == "type"));
        object.merge(table);
        object
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (at, (key, member)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{}:", json(key))?;
            match member {
                Member::Json(json) => f.write_str(json)?,
                Member::Object(object) => write!(f, "{object}")?,
            }
        }
        f.write_str("}")
    }
}

/// A value as JSON text.
pub(super) fn json(value: &(impl Serialize + ?Sized)) -> String {
    // Only maps with keys other than strings fail, and there are none here.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// The same JSON on one line: outside of strings line ends become spaces; inside they are escaped already.
pub(super) fn on_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_tables_are_merged_deeply() {
        let usage = Object::default().with("output", 1).with("tier", "standard");
        let mut object = Object::typed("message").with("a", [1]).with_object("usage", usage);
        let table: Table =
            serde_json::from_str(r#"{"usage":{"tier":"priority","x":null},"a":2,"z":{"b":1,"type":"t"}}"#)
                .unwrap();
        object.merge(&table);
        let expected = r#"{"type":"message","a":2,"usage":{"output":1,"tier":"priority","x":null},"z":{"type":"t","b":1}}"#;
        assert_eq!(object.to_string(), expected);
    }
}
