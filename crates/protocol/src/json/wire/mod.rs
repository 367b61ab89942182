//! How typed values are read from checked text and written back.

mod misfit;
mod object;
mod open_string;
mod out;
mod slot;
mod values;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Cursor;
pub use misfit::{Misfit, Reading, Refused};
pub(crate) use object::object;
pub(crate) use open_string::open_string;
pub(crate) use out::ObjectOut;
pub(crate) use slot::Slot;

/// A value that reads itself from JSON text and writes itself back.
pub trait Wire: Sized {
    /// Whether `null` is a value of this type rather than the absence of one.
    const TAKES_NULL: bool = false;

    /// Reads the value the cursor stands on. On an error the cursor may stand anywhere inside it.
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit>;

    /// Appends the value as JSON.
    fn write(&self, out: &mut String);
}

/// A value of the wire that is an object, so that several can share one pair of brackets.
pub(crate) trait WireObject: Sized {
    /// Reads members until the object is left. `consumed` are keys that the caller has taken already.
    fn read_members(
        cursor: &mut Cursor<'_>,
        reading: &mut Reading,
        consumed: &[&str],
    ) -> Result<Self, Misfit>;

    /// Writes the members.
    fn write_members(&self, out: &mut ObjectOut<'_>);
}

/// An object whose own fields can be written apart from what is kept beside them.
pub(crate) trait WireFields: WireObject {
    /// Writes the typed fields only.
    fn write_fields(&self, out: &mut ObjectOut<'_>);

    /// Whether [`WireFields::write_fields`] writes this key.
    fn writes(&self, key: &str) -> bool;
}

/// Reads an object through its members, for the `Wire` of every [`WireObject`].
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

/// Writes a wire value through serde: as the very text that `Wire::write` gives.
pub(crate) fn serialize<T: Wire, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut out = String::new();
    value.write(&mut out);
    RawValue::from_string(out).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

/// Reads a wire value through `serde_json`: from the text itself, so that nothing is lost on the way.
pub(crate) fn deserialize<'de, T: Wire, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    T::read(&mut Cursor::new(raw.get()), &mut Reading::default()).map_err(serde::de::Error::custom)
}
