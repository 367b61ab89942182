//! Any JSON value in place, exactly as written.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{BodyError, Cursor, Strings, SyntaxError, Text, check, number, same_json, value};

/// Any JSON value in place, exactly as written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Checks `text` and takes it as one value.
    pub fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Raw(text.trim_matches([' ', '\n', '\r', '\t'])))
    }

    /// A value from text that was already checked.
    pub(crate) fn new(text: &'a str) -> Self {
        Raw(text)
    }

    /// The value as written.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// True if the value is `null`.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// The value as a boolean.
    pub fn bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The value as a string, still escaped.
    #[inline]
    pub fn text(self) -> Option<Text<'a>> {
        let inner = self.0.strip_prefix('"')?;
        Some(Text::unseen(inner.strip_suffix('"').unwrap_or(inner)))
    }

    /// The value as an unsigned integer. Integral numbers written as `1.0` or `1e3` count.
    pub fn u64(self) -> Option<u64> {
        number::u64(self.0)
    }

    /// The value as a signed integer. Integral numbers written as `1.0` or `1e3` count.
    pub fn i64(self) -> Option<i64> {
        number::i64(self.0)
    }

    /// The value as the nearest double; `None` when it is not a number or out of range (`1e400`).
    pub fn f64(self) -> Option<f64> {
        number::f64(self.0)
    }

    /// True if the value is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// True if the value is an array.
    pub fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    /// The members of an object in the order written; empty for other values.
    pub fn members(self) -> Members<'a> {
        let mut cursor = self.cursor();
        Members(cursor.enter_object().then_some(cursor))
    }

    /// The items of an array; empty for other values.
    pub fn items(self) -> Items<'a> {
        let mut cursor = self.cursor();
        Items(cursor.enter_array().then_some(cursor))
    }

    /// Value of a key of an object. Of duplicate keys the last counts, as in JavaScript.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        self.members().filter(|(name, _)| *name == key).last().map(|(_, value)| value)
    }

    /// Every string inside the value at any depth, with its key; keys themselves are left out.
    pub fn strings(self) -> Strings<'a> {
        Strings::of(self.cursor())
    }

    /// Keys of an object that occur more than once; other parsers may take another occurrence.
    pub fn duplicate_keys(self) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        let twice = self.members().map(|(key, _)| key.get()).filter(|key| !seen.insert(key.clone()));
        twice.map(std::borrow::Cow::into_owned).collect()
    }

    /// The value as a tree, if its depth and numbers allow it.
    pub fn value(self) -> Result<Value, BodyError> {
        value::value(self)
    }

    /// The value as any type that implements serde's `Deserialize`.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0)
    }

    /// An owned copy.
    pub fn to_json(self) -> Json {
        Json(self.0.into())
    }

    pub(crate) fn cursor(self) -> Cursor<'a> {
        Cursor::new(self.0)
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The members of an object; see [`Raw::members`].
#[derive(Debug, Clone)]
pub struct Members<'a>(Option<Cursor<'a>>);

impl<'a> Members<'a> {
    /// The members in `text`, the inside of an object without its brackets.
    pub(super) fn inside(text: &'a str) -> Self {
        Members(Some(Cursor::new(text)))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Text<'a>, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.0.as_mut()?;
        let Some(key) = cursor.next_key() else {
            self.0 = None;
            return None;
        };
        Some((key, cursor.raw()))
    }
}

/// The items of an array; see [`Raw::items`].
#[derive(Debug, Clone)]
pub struct Items<'a>(Option<Cursor<'a>>);

impl<'a> Items<'a> {
    /// Reads the next item with `read`, so that its text is scanned only once.
    #[inline]
    pub(crate) fn next_with<T>(&mut self, read: impl FnOnce(&mut Cursor<'a>) -> T) -> Option<T> {
        let cursor = self.0.as_mut()?;
        if !cursor.next_item() {
            self.0 = None;
            return None;
        }
        Some(read(cursor))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    #[inline]
    fn next(&mut self) -> Option<Raw<'a>> {
        self.next_with(Cursor::raw)
    }
}

/// Any JSON value, owned and exactly as written, of any depth and size.
#[derive(Clone)]
pub struct Json(Box<str>);

impl Json {
    /// Checks `text` and keeps it.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Raw::parse(text).map(Raw::to_json)
    }

    /// The value, for reading it in place.
    pub fn raw(&self) -> Raw<'_> {
        Raw(&self.0)
    }
}

impl Default for Json {
    fn default() -> Self {
        Json("null".into())
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Json(value.to_string().into())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Json::from(&value)
    }
}

/// Compares as JSON values: spelling and key order do not matter.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        same_json(self.raw(), other.raw())
    }
}

super::object!(@through_wire Json);

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
