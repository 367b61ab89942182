//! Constructors for entries that follow the session specification.

use super::{
    AssistantEntry, AssistantFields, AssistantSubtype, CompactOperation, CompactStatistics,
    CompactSystemEntry, CompactSystemFields, EntryBody, EntryMessage, Envelope, SystemEntry, SystemFields,
    SystemSubtype, Timestamp, UserEntry, UserFields,
};
use crate::json::Json;

impl Envelope {
    /// Envelope with the three keys that the session specification requires on every entry.
    pub fn seed(
        uuid: impl Into<String>,
        timestamp: impl Into<Timestamp>,
        session_id: impl Into<String>,
    ) -> Self {
        Envelope {
            uuid: Some(uuid.into()),
            timestamp: Some(timestamp.into()),
            session_id: Some(session_id.into()),
            ..Envelope::default()
        }
    }

    /// The same envelope as a child of another entry.
    #[must_use]
    pub fn after(mut self, parent_uuid: impl Into<String>) -> Self {
        self.parent_uuid = Some(parent_uuid.into());
        self
    }

    /// The same envelope in a sub-agent's conversation.
    #[must_use]
    pub fn in_sidechain(mut self) -> Self {
        self.is_sidechain = Some(true);
        self
    }

    /// The same envelope with the model in the user's place.
    #[must_use]
    pub fn from_model(mut self) -> Self {
        self.user_type = Some("external".to_owned());
        self
    }
}

impl EntryBody {
    /// A message of the user.
    pub fn seed_user(envelope: Envelope, text: impl Into<String>) -> Self {
        let fields = UserFields { message: text_of(text), ..UserFields::default() };
        EntryBody::User(Box::new(UserEntry::new(envelope, fields)))
    }

    /// Output of the model: a response, its reasoning, a command or an error.
    pub fn seed_assistant(envelope: Envelope, subtype: AssistantSubtype, text: impl Into<String>) -> Self {
        let fields =
            AssistantFields { message: text_of(text), subtype: Some(subtype), ..AssistantFields::default() };
        EntryBody::Assistant(Box::new(AssistantEntry::new(envelope, fields)))
    }

    /// A tool call.
    pub fn seed_tool_use(envelope: Envelope, tool_name: impl Into<String>, arguments: Json) -> Self {
        let fields = AssistantFields {
            subtype: Some(AssistantSubtype::TOOL_USE),
            tool_name: Some(tool_name.into()),
            tool_arguments: Some(arguments),
            ..AssistantFields::default()
        };
        EntryBody::Assistant(Box::new(AssistantEntry::new(envelope, fields)))
    }

    /// The result of a tool.
    pub fn seed_tool_result(envelope: Envelope, text: impl Into<String>) -> Self {
        Self::seed_system(envelope, Some(SystemSubtype::TOOL_RESULT), text)
    }

    /// An error.
    pub fn seed_error(mut envelope: Envelope, text: impl Into<String>) -> Self {
        envelope.is_error = Some(true);
        Self::seed_system(envelope, Some(SystemSubtype::ERROR), text)
    }

    /// Information about the session that is not shown to the user.
    pub fn seed_meta(mut envelope: Envelope, text: impl Into<String>) -> Self {
        envelope.is_meta = Some(true);
        Self::seed_system(envelope, Some(SystemSubtype::META), text)
    }

    /// Any other event.
    pub fn seed_system(envelope: Envelope, subtype: Option<SystemSubtype>, text: impl Into<String>) -> Self {
        let fields = SystemFields { message: text_of(text), subtype, ..SystemFields::default() };
        EntryBody::System(Box::new(SystemEntry::new(envelope, fields)))
    }

    /// A step of a compaction. The specification requires statistics with [`CompactOperation::COMPACTED`].
    pub fn seed_compact(
        envelope: Envelope,
        operation: CompactOperation,
        statistics: Option<CompactStatistics>,
    ) -> Self {
        let fields = CompactSystemFields {
            operation: Some(operation),
            metadata: statistics,
            ..CompactSystemFields::default()
        };
        EntryBody::CompactSystem(Box::new(CompactSystemEntry::new(envelope, fields)))
    }
}

impl CompactStatistics {
    /// Number of preserved messages, total number of messages, and their ratio.
    pub fn new(preserved_messages: u64, total_messages: u64, compression_ratio: f64) -> Self {
        CompactStatistics {
            preserved_messages: Some(preserved_messages),
            total_messages: Some(total_messages),
            compression_ratio: Some(compression_ratio),
            ..CompactStatistics::default()
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the field is optional")]
fn text_of(text: impl Into<String>) -> Option<EntryMessage> {
    Some(EntryMessage::Text(text.into()))
}
