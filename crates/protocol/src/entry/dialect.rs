//! The dialect of session files that an entry is written in.

use std::fmt;

use super::{EntryKind, EntryRef};
use crate::json::Raw;

/// Dialect of session files that an entry is written in.
///
/// The enum is exhaustive: code that handles every dialect does not compile when one is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// The CLI: `message` is an API message, tools are blocks in it.
    Real,
    /// The session specification: `message` is a string, tools are next to it.
    Seed,
    /// The later revision of the specification: `human`, `tool_result`, timestamps as numbers.
    Rewrite,
    /// An unknown kind of entry.
    Unknown,
}

impl Dialect {
    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Real => "real",
            Dialect::Seed => "seed",
            Dialect::Rewrite => "rewrite",
            Dialect::Unknown => "unknown",
        }
    }

    pub(super) fn of(entry: &EntryRef<'_>) -> Self {
        match entry.kind() {
            EntryKind::Unknown => Dialect::Unknown,
            EntryKind::CompactSystem => Dialect::Seed,
            kind if kind.is_rewrite() => Dialect::Rewrite,
            kind if kind.has_message() && entry.counts_millis() => Dialect::Rewrite,
            EntryKind::User | EntryKind::Assistant => {
                if entry.message().is_some_and(Raw::is_object) {
                    Dialect::Real
                } else {
                    Dialect::Seed
                }
            }
            EntryKind::System if is_seed_system(entry) => Dialect::Seed,
            _ => Dialect::Real,
        }
    }
}

/// System entries of the CLI have `content` or their own subtypes, never a `message`.
fn is_seed_system(entry: &EntryRef<'_>) -> bool {
    if entry.message().is_some() {
        return true;
    }
    let subtype = entry.subtype();
    matches!(subtype.as_deref(), None | Some("tool_result" | "error" | "meta"))
        && entry.get("content").is_none()
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
