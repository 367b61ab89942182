//! Writes an object: typed fields first, then the members that were kept.

use serde_json::Value;

use super::{Wire, WireFields, is_default};
use crate::json::{Extra, write_string};

/// Writer of an object.
pub(crate) struct ObjectOut<'a> {
    pub(crate) out: &'a mut String,
    first: bool,
    /// A key that is looked for in place of writing.
    wanted: Option<WantedKey<'a>>,
}

/// A key, and whether a field would be written under it.
struct WantedKey<'a> {
    key: &'a str,
    is_written: bool,
}

impl<'a> ObjectOut<'a> {
    pub(crate) fn open(out: &'a mut String) -> Self {
        out.push('{');
        ObjectOut { out, first: true, wanted: None }
    }

    pub(crate) fn key(&mut self, key: &str) -> &mut String {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        write_string(key, self.out);
        self.out.push(':');
        self.out
    }

    pub(crate) fn field<T: Wire>(&mut self, key: &str, value: &T) {
        match &mut self.wanted {
            None => value.write(self.key(key)),
            Some(wanted) => wanted.is_written |= wanted.key == key,
        }
    }

    pub(crate) fn optional<T: Wire>(&mut self, key: &str, value: Option<&T>) {
        if let Some(value) = value {
            self.field(key, value);
        }
    }

    pub(crate) fn unless_default<T: Wire + Default + PartialEq>(&mut self, key: &str, value: &T) {
        if !is_default(value) {
            self.field(key, value);
        }
    }

    pub(crate) fn string(&mut self, key: &str, value: &str) {
        write_string(value, self.key(key));
    }

    /// Writes the typed fields of the parts of an object, and then the extra members whose keys no field has
    /// written.
    pub(crate) fn fields_and_extra(&mut self, parts: &[&dyn WireFields], extra: &Extra) {
        for part in parts {
            part.write_fields(self);
        }
        self.extra(extra, &|key| parts.iter().any(|part| writes(*part, key)));
    }

    /// Writes the extra members, except the keys that `taken` names as written.
    pub(crate) fn extra(&mut self, extra: &Extra, taken: &dyn Fn(&str) -> bool) {
        extra.write(self.out, &mut self.first, taken);
    }

    /// Writes the members of a tree, for types with `extra: Value`.
    pub(crate) fn value_members(&mut self, members: &Value, taken: impl Fn(&str) -> bool) {
        for (key, value) in members.as_object().into_iter().flatten().filter(|(key, _)| !taken(key)) {
            self.field(key, value);
        }
    }

    pub(crate) fn close(self) {
        self.out.push('}');
    }
}

/// True if a typed field is written under this key.
fn writes(part: &dyn WireFields, key: &str) -> bool {
    let mut unused = String::new();
    let wanted = Some(WantedKey { key, is_written: false });
    let mut out = ObjectOut { out: &mut unused, first: true, wanted };
    part.write_fields(&mut out);
    out.wanted.is_some_and(|wanted| wanted.is_written)
}
