//! Reading of typed values from checked text, and writing.

mod member_reader;
mod misfit;
mod object;
mod open_string;
mod out;
mod values;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Cursor;
pub(crate) use member_reader::{FieldRule, MemberReader};
pub use misfit::{Misfit, Reading, Refused};
pub(crate) use object::object;
pub(crate) use open_string::open_string;
pub(crate) use out::ObjectOut;

/// A value that can be read from JSON text and written back.
pub trait Wire: Sized {
    /// True if `null` is a value of this type and not the absence of one.
    const TAKES_NULL: bool = false;

    /// Reads the value at the cursor. After an error the cursor may be anywhere inside it.
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit>;

    /// Appends the value as JSON.
    fn write(&self, out: &mut String);
}

/// A wire value that is an object, so that several can share one pair of brackets.
pub(crate) trait WireObject: Sized {
    /// Reads members until the object is left. `consumed` are keys that the caller has already read.
    fn read_members(
        cursor: &mut Cursor<'_>,
        reading: &mut Reading,
        consumed: &[&str],
    ) -> Result<Self, Misfit>;

    /// Writes the members.
    fn write_members(&self, out: &mut ObjectOut<'_>);
}

/// An object whose typed fields can be written separately from its `extra`.
pub(crate) trait WireFields {
    /// Writes the typed fields only.
    fn write_fields(&self, out: &mut ObjectOut<'_>);
}

/// Reads an object through its members, for the `Wire` implementation of every [`WireObject`].
pub(crate) fn read_object<T: WireObject>(
    cursor: &mut Cursor<'_>,
    reading: &mut Reading,
    consumed: &[&str],
) -> Result<T, Misfit> {
    if !cursor.enter_object() {
        return Err(Misfit::here(cursor, "an object"));
    }
    T::read_members(cursor, reading, consumed)
}

pub(crate) fn write_object<T: WireObject>(value: &T, out: &mut String) {
    let mut object = ObjectOut::open(out);
    value.write_members(&mut object);
    object.close();
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Serializes a wire value as exactly the text of `Wire::write`.
pub(crate) fn serialize<T: Wire, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut out = String::new();
    value.write(&mut out);
    RawValue::from_string(out).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

/// Deserializes a wire value from the text itself, so that nothing is lost.
pub(crate) fn deserialize<'de, T: Wire, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    T::read(&mut Cursor::new(raw.get()), &mut Reading::default()).map_err(serde::de::Error::custom)
}
