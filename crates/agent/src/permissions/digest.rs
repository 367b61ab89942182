//! Digests of inputs, so that a permission holds for exactly the input that was shown.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use tidings_protocol::json::{Raw, write_string};

use crate::limits::DIGEST_DEPTH_MAX;

/// The SHA-256 of a tool's name and its input.
///
/// It is computed over `["tool",input]` with sorted keys, without whitespace and with strings in canonical
/// form, so that every client that was shown an input can compute it.
/// Among duplicate keys the last counts, as in the CLI.
///
/// ```
/// use tidings_agent::permissions::Digest;
/// use tidings_protocol::json::Raw;
///
/// let shown = Digest::of("Bash", Raw::parse(r#"{"command": "ls", "timeout": 5}"#)?);
/// let asked = Digest::of("Bash", Raw::parse(r#"{"timeout":5,"command":"\u006cs"}"#)?);
/// let other = Digest::of("Bash", Raw::parse(r#"{"command":"rm","timeout":5}"#)?);
/// assert_eq!(shown, asked);
/// assert_ne!(shown, other);
/// assert_eq!(shown.to_string().parse(), Ok(asked));
/// # Ok::<(), tidings_protocol::json::SyntaxError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// The text is not a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("A digest has 64 hexadecimal digits")]
pub struct InvalidDigest;

impl Digest {
    /// The digest of a tool and its input.
    pub fn of(tool: &str, input: Raw<'_>) -> Self {
        let mut text = String::from("[");
        write_string(tool, &mut text);
        text.push(',');
        write_canonical(input, &mut text);
        text.push(']');
        Digest(Sha256::digest(text.as_bytes()).into())
    }
}

/// An item that remains to be written.
enum WriteItem<'a> {
    Value(Raw<'a>, usize),
    Key(Cow<'a, str>),
    Text(&'static str),
}

/// Uses a stack instead of recursion, because an input may be nested to any depth.
fn write_canonical(raw: Raw<'_>, out: &mut String) {
    let mut work = vec![WriteItem::Value(raw, 0)];
    while let Some(next) = work.pop() {
        match next {
            WriteItem::Text(text) => out.push_str(text),
            WriteItem::Key(key) => {
                write_string(&key, out);
                out.push(':');
            }
            WriteItem::Value(raw, depth) if depth >= DIGEST_DEPTH_MAX => out.push_str(raw.as_str()),
            WriteItem::Value(raw, depth) if raw.is_object() => {
                let members: BTreeMap<Cow<'_, str>, Raw<'_>> =
                    raw.members().map(|(key, value)| (key.get(), value)).collect();
                out.push('{');
                work.push(WriteItem::Text("}"));
                let count = members.len();
                for (at, (key, value)) in members.into_iter().rev().enumerate() {
                    work.push(WriteItem::Value(value, depth + 1));
                    work.push(WriteItem::Key(key));
                    if at + 1 < count {
                        work.push(WriteItem::Text(","));
                    }
                }
            }
            WriteItem::Value(raw, depth) if raw.is_array() => {
                let items: Vec<Raw<'_>> = raw.items().collect();
                out.push('[');
                work.push(WriteItem::Text("]"));
                for (at, item) in items.iter().enumerate().rev() {
                    work.push(WriteItem::Value(*item, depth + 1));
                    if at > 0 {
                        work.push(WriteItem::Text(","));
                    }
                }
            }
            WriteItem::Value(raw, _) => match raw.text() {
                Some(text) => write_string(&text.get(), out),
                None => out.push_str(raw.as_str()),
            },
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(InvalidDigest);
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| InvalidDigest)?;
        }
        Ok(Digest(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let mut out = String::new();
        write_canonical(Raw::parse(text).unwrap(), &mut out);
        out
    }

    #[test]
    fn one_value_has_one_spelling() {
        for (text, expected) in [
            (r#"{"b":[1,{"d":2,"c":[]}],"a":{}}"#, r#"{"a":{},"b":[1,{"c":[],"d":2}]}"#),
            (r#" { "a" : null , "a" : true } "#, r#"{"a":true}"#),
            (r#""\u0061\/""#, r#""a/""#),
            ("[]", "[]"),
            ("[1.0, 1]", "[1.0,1]"),
        ] {
            assert_eq!(canonical(text), expected);
        }
    }

    /// A page showed the first of two equal keys, and the CLI ran the second.
    #[test]
    fn f14_of_duplicate_keys_the_one_that_runs_is_in_the_digest() {
        let twice = Digest::of("Bash", Raw::parse(r#"{"command":"ls","command":"rm"}"#).unwrap());
        assert_eq!(twice, Digest::of("Bash", Raw::parse(r#"{"command":"rm"}"#).unwrap()));
    }

    #[test]
    fn an_input_of_any_depth_has_a_digest() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let _ = Digest::of("Bash", Raw::parse(&deep).unwrap());
    }
}
