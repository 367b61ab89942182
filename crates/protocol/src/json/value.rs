//! A value as a tree, up to a depth that fits the stack.

use std::fmt;

use serde_json::{Map, Number, Value};

use super::{Cursor, Raw, number};

/// Maximum depth of a body that becomes a tree. Building, printing and dropping a tree recurses, and must fit
/// into a stack of 256 KiB in a debug build with every feature of `serde_json` enabled; known tools stay
/// below half of it.
pub const BODY_DEPTH_MAX: usize = 64;

/// Reason why a body cannot become a tree. The raw text is still available.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyError {
    /// Nested deeper than [`BODY_DEPTH_MAX`].
    TooDeep,
    /// A number that fits neither 64 bits nor a double.
    Number(String),
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::TooDeep => write!(f, "nested deeper than {BODY_DEPTH_MAX} levels"),
            BodyError::Number(text) => write!(f, "number out of range: `{text}`"),
        }
    }
}

impl std::error::Error for BodyError {}

pub(super) fn value(raw: Raw<'_>) -> Result<Value, BodyError> {
    read(&mut raw.cursor(), 0)
}

pub(super) fn read(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, BodyError> {
    if let Some(text) = cursor.text() {
        return Ok(Value::String(text.get().into_owned()));
    }
    if cursor.enter_object() {
        let depth = deeper(depth)?;
        let mut map = Map::new();
        while let Some(key) = cursor.next_key() {
            let value = read(cursor, depth)?;
            map.insert(key.get().into_owned(), value);
        }
        return Ok(Value::Object(map));
    }
    if cursor.enter_array() {
        let depth = deeper(depth)?;
        let mut items = Vec::new();
        while cursor.next_item() {
            items.push(read(cursor, depth)?);
        }
        return Ok(Value::Array(items));
    }
    match cursor.raw().as_str() {
        "null" => Ok(Value::Null),
        "true" => Ok(Value::Bool(true)),
        "false" => Ok(Value::Bool(false)),
        text => {
            number(text).map(Value::Number).ok_or_else(|| BodyError::Number(text.chars().take(80).collect()))
        }
    }
}

fn deeper(depth: usize) -> Result<usize, BodyError> {
    if depth < BODY_DEPTH_MAX { Ok(depth + 1) } else { Err(BodyError::TooDeep) }
}

fn number(text: &str) -> Option<Number> {
    if number::is_integer(text) && text != "-0" {
        return match text.parse::<u64>() {
            Ok(number) => Some(number.into()),
            Err(_) => text.parse::<i64>().ok().map(Number::from),
        };
    }
    number::f64(text).and_then(Number::from_f64)
}
