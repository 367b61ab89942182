use super::EntryRef;
use crate::json::Raw;

/// What seed 001 lets any entry say of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the page has five flags that do not depend on each other")]
#[non_exhaustive]
pub struct Flags {
    /// Part of a sub-agent's conversation: the user is the model, the assistant its helper.
    pub is_sidechain: bool,
    /// Taken out of the conversation, though still in the file.
    pub is_deleted: bool,
    /// Cancelled; the CLI's own word for it is `isAbortedMidStream`.
    pub is_aborted: bool,
    /// Written by the client, not meant for a person.
    pub is_meta: bool,
    /// Tells of an error; the CLI's own word for it is `isApiErrorMessage`.
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
