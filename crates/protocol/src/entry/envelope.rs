use crate::json::{Cursor, Misfit, Raw, Reading, Wire, object, write_string};

/// Declares the envelope, and its keys as a list, so that they can be told from an entry's own.
macro_rules! envelope {
    ($( $(#[$meta:meta])* $field:ident: $Type:ty as $key:literal, )+) => {
        object! {
            /// What every entry of the tree has around it.
            pub struct Envelope {
                $( $(#[$meta])* opt $field: $Type as $key, )+
            }
        }

        /// The keys that belong to the envelope, and `type`, which is neither the envelope's nor the body's.
        pub(super) const KEYS: &[&str] = &["type", $($key),+];
    };
}

envelope! {
    /// Unique within one file; a fork repeats it.
    uuid: String as "uuid",
    /// The entry that this one follows; the file says `null` for a root.
    parent_uuid: String as "parentUuid",
    timestamp: Timestamp as "timestamp",
    session_id: String as "sessionId",
    /// What a compaction boundary follows, since its parent is nothing.
    logical_parent_uuid: String as "logicalParentUuid",
    /// Part of a sub-agent's conversation.
    is_sidechain: bool as "isSidechain",
    cwd: String as "cwd",
    /// Of the CLI.
    version: String as "version",
    git_branch: String as "gitBranch",
    /// The CLI says `external` of everybody. Seed 001 takes it for the model in the user's place.
    user_type: String as "userType",
    /// `cli`, `sdk-cli`, `claude-desktop`, …
    entrypoint: String as "entrypoint",
    /// The sub-agent.
    agent_id: String as "agentId",
    /// A name for the session in words.
    slug: String as "slug",
    team_name: String as "teamName",
    agent_name: String as "agentName",
    agent_color: String as "agentColor",
    prompt_id: String as "promptId",
    /// Written by the client, not meant for a person.
    is_meta: bool as "isMeta",
    /// Where an SDK copied this entry from.
    forked_from: ForkedFrom as "forkedFrom",
    session_kind: String as "sessionKind",
    /// The wire's spelling, which a few entries have as well.
    session_id_snake: String as "session_id",
    is_deleted: bool as "isDeleted",
    is_aborted: bool as "isAborted",
    is_error: bool as "isError",
    /// In the rewrite of seed 001: the branch that counts.
    is_active: bool as "is_active",
}

object! {
    /// Where a forked entry was copied from.
    pub struct ForkedFrom {
        opt session_id: String as "sessionId",
        opt message_uuid: String as "messageUuid",
    }
}

/// When an entry was made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Timestamp {
    /// ISO 8601, as the CLI and seed 001 have it.
    Text(String),
    /// Milliseconds since 1970, as the rewrite of that page has it.
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
