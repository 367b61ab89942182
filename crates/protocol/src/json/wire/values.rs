//! Plain values: strings, numbers, lists, maps.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::{Misfit, ObjectOut, Reading, Wire};
use crate::json::{BodyError, Cursor, Json, value, write_string};

impl Wire for String {
    #[inline]
    fn read(cursor: &mut Cursor<'_>, _: &mut Reading) -> Result<Self, Misfit> {
        match cursor.text() {
            Some(text) => Ok(text.get().into_owned()),
            None => Err(Misfit::here(cursor, "a string")),
        }
    }

    fn write(&self, out: &mut String) {
        write_string(self, out);
    }
}

impl Wire for bool {
    #[inline]
    fn read(cursor: &mut Cursor<'_>, _: &mut Reading) -> Result<Self, Misfit> {
        match cursor.peek() {
            b't' | b'f' => Ok(cursor.raw().as_str() == "true"),
            _ => Err(Misfit::here(cursor, "true or false")),
        }
    }

    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

/// Implements `Wire` for numbers: accessor and description.
macro_rules! number {
    ($($type:ty, $read:ident, $expected:literal;)+) => {$(
        impl Wire for $type {
            #[inline]
            fn read(cursor: &mut Cursor<'_>, _: &mut Reading) -> Result<Self, Misfit> {
                let at = cursor.at();
                match cursor.raw().$read().and_then(|number| <$type>::try_from(number).ok()) {
                    Some(number) => Ok(number),
                    None => {
                        cursor.rewind(at);
                        Err(Misfit::here(cursor, $expected))
                    }
                }
            }

            fn write(&self, out: &mut String) {
                NumberText::write(*self, out);
            }
        }
    )+};
}

/// Writes a number as the CLI does.
trait NumberText: Copy {
    fn write(self, out: &mut String);
}

macro_rules! whole {
    ($($type:ty)+) => {$(
        impl NumberText for $type {
            fn write(self, out: &mut String) {
                out.push_str(&self.to_string());
            }
        }
    )+};
}

whole! { u64 u32 u16 i64 i32 }

impl NumberText for f64 {
    /// JavaScript has one number type and writes whole numbers without a fraction: `137`, not `137.0`.
    fn write(self, out: &mut String) {
        let text = serde_json::to_string(&self).unwrap_or_else(|_| "null".to_owned());
        let whole = text.strip_suffix(".0").filter(|whole| *whole != "-0");
        out.push_str(whole.unwrap_or(&text));
    }
}

number! {
    u64, u64, "a whole number";
    u32, u64, "a whole number";
    u16, u64, "a small whole number";
    i64, i64, "a whole number";
    i32, i64, "a whole number";
    f64, f64, "a number in the range of a double";
}

impl Wire for Json {
    const TAKES_NULL: bool = true;

    #[inline]
    fn read(cursor: &mut Cursor<'_>, _: &mut Reading) -> Result<Self, Misfit> {
        Ok(cursor.raw().to_json())
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.raw().as_str());
    }
}

impl Wire for Value {
    const TAKES_NULL: bool = true;

    fn read(cursor: &mut Cursor<'_>, _: &mut Reading) -> Result<Self, Misfit> {
        let at = cursor.at();
        value::read(cursor, 0).map_err(|error| {
            cursor.rewind(at);
            Misfit::here(
                cursor,
                match error {
                    BodyError::TooDeep => "a value of bounded depth",
                    BodyError::Number(_) => "a value whose numbers fit in 64 bits",
                },
            )
        })
    }

    fn write(&self, out: &mut String) {
        // Writing into a String cannot fail.
        let _ = write!(out, "{self}");
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if !cursor.enter_array() {
            return Err(Misfit::here(cursor, "a list"));
        }
        let mut items = Vec::new();
        while cursor.next_item() {
            let index = items.len();
            items.push(reading.within(|| format!("[{index}]"), |reading| T::read(cursor, reading))?);
        }
        Ok(items)
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        for (index, item) in self.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            item.write(out);
        }
        out.push(']');
    }
}

impl<T: Wire> Wire for BTreeMap<String, T> {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if !cursor.enter_object() {
            return Err(Misfit::here(cursor, "an object"));
        }
        let mut map = BTreeMap::new();
        while let Some(key) = cursor.next_key() {
            let value = reading.within(|| key.get().into_owned(), |reading| T::read(cursor, reading))?;
            map.insert(key.get().into_owned(), value);
        }
        Ok(map)
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectOut::open(out);
        for (key, value) in self {
            object.field(key, value);
        }
        object.close();
    }
}

/// A value that may be `null` where the key itself must be there.
impl<T: Wire> Wire for Option<T> {
    const TAKES_NULL: bool = true;

    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if cursor.peek() == b'n' {
            cursor.skip();
            return Ok(None);
        }
        T::read(cursor, reading).map(Some)
    }

    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }
}

impl<T: Wire> Wire for Box<T> {
    const TAKES_NULL: bool = T::TAKES_NULL;

    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        T::read(cursor, reading).map(Box::new)
    }

    fn write(&self, out: &mut String) {
        (**self).write(out);
    }
}
