//! Flags of an entry in the session specification.

use super::EntryRef;
use crate::json::Raw;

/// Flags that any entry may have in the session specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the specification has five independent flags")]
#[non_exhaustive]
pub struct Flags {
    /// True if it is part of a sub-agent's conversation: the user is the model, the assistant its sub-agent.
    pub is_sidechain: bool,
    /// True if it is deleted from the conversation, though still in the file.
    pub is_deleted: bool,
    /// True if it was cancelled; the CLI's key is `isAbortedMidStream`.
    pub is_aborted: bool,
    /// True if the client wrote it for the model and not for the user.
    pub is_meta: bool,
    /// True if it reports an error; the CLI's key is `isApiErrorMessage`.
    pub is_error: bool,
}

impl Flags {
    pub(super) fn of(entry: &EntryRef<'_>) -> Self {
        let mut flags =
            Flags { is_sidechain: entry.is_sidechain(), is_meta: entry.is_meta(), ..Flags::default() };
        for (key, value) in entry.json().members() {
            match &*key.get() {
                "isDeleted" => flags.is_deleted = is_set(value),
                "isAborted" | "isAbortedMidStream" => flags.is_aborted |= is_set(value),
                "isError" | "isApiErrorMessage" => flags.is_error |= is_set(value),
                _ => {}
            }
        }
        flags
    }
}

fn is_set(value: Raw<'_>) -> bool {
    value.bool() == Some(true)
}
