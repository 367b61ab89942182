//! The keys that all entries of the tree share: author, time, folder and parent.

use crate::json::{Cursor, Misfit, Raw, Reading, Wire, object, write_string};

/// Declares the envelope, and the list of its keys, which separates them from the entry's own keys.
macro_rules! envelope {
    ($( $(#[$meta:meta])* $field:ident: $Type:ty as $key:literal, )+) => {
        object! {
            /// Fields common to all entries of the tree.
            pub struct Envelope {
                $( $(#[$meta])* opt $field: $Type as $key, )+
            }
        }

        /// The keys of the envelope, and `type`, which belongs neither to the envelope nor to the body.
        pub(super) const KEYS: &[&str] = &["type", $($key),+];
    };
}

envelope! {
    /// Unique within one file; a fork repeats it.
    uuid: String as "uuid",
    /// Parent of the entry; `null` in the file for a root.
    parent_uuid: String as "parentUuid",
    timestamp: Timestamp as "timestamp",
    session_id: String as "sessionId",
    /// Predecessor of a compaction boundary, which has no parent.
    logical_parent_uuid: String as "logicalParentUuid",
    /// True if it is part of a sub-agent's conversation.
    is_sidechain: bool as "isSidechain",
    cwd: String as "cwd",
    /// Version of the CLI.
    version: String as "version",
    git_branch: String as "gitBranch",
    /// Always `external` in files of the CLI. In the session specification, marks the model in the user's
    /// place.
    user_type: String as "userType",
    /// `cli`, `sdk-cli`, `claude-desktop`, …
    entrypoint: String as "entrypoint",
    /// Id of the sub-agent.
    agent_id: String as "agentId",
    /// Human-readable name of the session.
    slug: String as "slug",
    team_name: String as "teamName",
    agent_name: String as "agentName",
    agent_color: String as "agentColor",
    prompt_id: String as "promptId",
    /// True if the client wrote it for the model and not for the user.
    is_meta: bool as "isMeta",
    /// Origin of an entry copied by an SDK.
    forked_from: ForkedFrom as "forkedFrom",
    session_kind: String as "sessionKind",
    /// Spelling of the wire, present in some entries.
    session_id_snake: String as "session_id",
    is_deleted: bool as "isDeleted",
    is_aborted: bool as "isAborted",
    is_error: bool as "isError",
    /// True for the active branch, in the later revision of the session specification.
    is_active: bool as "is_active",
}

object! {
    /// Origin of a forked entry.
    pub struct ForkedFrom {
        opt session_id: String as "sessionId",
        opt message_uuid: String as "messageUuid",
    }
}

/// Time of an entry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Timestamp {
    /// ISO 8601, as in the CLI and the session specification.
    Text(String),
    /// Milliseconds since 1970, as in the later revision of that specification.
    Millis(f64),
}

impl From<&str> for Timestamp {
    fn from(text: &str) -> Self {
        Timestamp::Text(text.to_owned())
    }
}

impl From<String> for Timestamp {
    fn from(text: String) -> Self {
        Timestamp::Text(text)
    }
}

impl Wire for Timestamp {
    fn read(cursor: &mut Cursor<'_>, _: &mut Reading) -> Result<Self, Misfit> {
        if let Some(text) = cursor.text() {
            return Ok(Timestamp::Text(text.get().into_owned()));
        }
        let raw: Raw<'_> = cursor.raw();
        match raw.f64() {
            Some(millis) => Ok(Timestamp::Millis(millis)),
            None => Err(Misfit::here(&mut raw.cursor(), "a time as text or as a number")),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Timestamp::Text(text) => write_string(text, out),
            Timestamp::Millis(millis) => millis.write(out),
        }
    }
}

object!(@through_wire Timestamp);
