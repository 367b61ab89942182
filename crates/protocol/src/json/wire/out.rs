use serde_json::Value;

use super::Wire;
use crate::json::{Extra, write_string};

/// Writer of an object.
pub(crate) struct ObjectOut<'a> {
    pub(crate) out: &'a mut String,
    first: bool,
}

impl<'a> ObjectOut<'a> {
    pub(crate) fn open(out: &'a mut String) -> Self {
        out.push('{');
        ObjectOut { out, first: true }
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
        value.write(self.key(key));
    }

    pub(crate) fn string(&mut self, key: &str, value: &str) {
        write_string(value, self.key(key));
    }

    /// Writes the extra members, except the keys that `taken` names as written.
    pub(crate) fn extra(&mut self, extra: &Extra, taken: impl Fn(&str) -> bool) {
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
