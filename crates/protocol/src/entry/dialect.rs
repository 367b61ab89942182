use std::fmt;

use super::{EntryKind, EntryRef};
use crate::json::Raw;

/// Which way of writing entries an entry follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Dialect {
    /// What the CLI writes: `message` is an API message, tools are blocks in it.
    Real,
    /// What seed 001 describes: `message` is a string, tools stand beside it.
    Seed,
    /// What that page became later: `human`, `tool_result`, times as numbers.
    Rewrite,
    /// A kind that nobody knows.
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

/// The CLI's system entries have `content` or a subtype of their own, never a `message`.
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
