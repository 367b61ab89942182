//! The speaker of an entry.

use std::fmt;

use tidings_protocol::entry::EntryKind;

use super::{EntryRole, LaneId, NodeId, Session};

/// The speaker of an entry. Displays as a label: `User`, `Agent [Explore]`, `Tool Result [Bash]`, …
///
/// On the main line the user is a person and the assistant is Claude; in a sub-agent's lane the user is
/// Claude and the assistant is the sub-agent. `userType` does not distinguish them, since the CLI always
/// writes `external`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Actor<'a> {
    /// The user.
    User,
    /// The user in a special form: `command`, `interrupt`, or an unusual `userType`.
    UserAs(&'a str),
    /// Claude.
    Assistant,
    /// Claude in the role of a user.
    ClaudeAsUser,
    /// A sub-agent, by its name.
    Agent(&'a str),
    /// A tool, by its name.
    ToolResult(&'a str),
    /// The client.
    System,
    /// The client, about a compaction.
    SystemCompact,
    /// The client, with metadata that is not shown.
    SystemMetadata,
    /// The client, about an error.
    SystemError,
    /// An unknown `type`.
    Unknown(&'a str),
}

impl fmt::Display for Actor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::User => f.write_str("User"),
            Actor::UserAs(kind) => write!(f, "User [{kind}]"),
            Actor::Assistant => f.write_str("Assistant"),
            Actor::ClaudeAsUser => f.write_str("Claude [as user]"),
            Actor::Agent(name) => write!(f, "Agent [{name}]"),
            Actor::ToolResult(tool) => write!(f, "Tool Result [{tool}]"),
            Actor::System => f.write_str("System"),
            Actor::SystemCompact => f.write_str("System [Compact]"),
            Actor::SystemMetadata => f.write_str("System [Metadata]"),
            Actor::SystemError => f.write_str("System [Error]"),
            Actor::Unknown(kind) => write!(f, "Unknown [{kind}]"),
        }
    }
}

impl Session {
    /// The speaker of an entry.
    pub fn actor(&self, id: NodeId) -> Actor<'_> {
        let node = self.node(id);
        let agent = self.lane(node.lane).agent.as_ref();
        match node.part {
            EntryRole::ToolResult => {
                let tool = self.results_of(id).next().map_or("", |tool| &tool.name);
                Actor::ToolResult(if tool.is_empty() { "unknown" } else { tool })
            }
            EntryRole::Response => agent.map_or(Actor::Assistant, |agent| Actor::Agent(&agent.name)),
            // A prompt in a sub-agent's lane is Claude's.
            EntryRole::Prompt | EntryRole::Command if node.lane != LaneId::MAIN => Actor::ClaudeAsUser,
            EntryRole::Prompt => self.label(id).map_or(Actor::User, Actor::UserAs),
            EntryRole::Command => Actor::UserAs("command"),
            EntryRole::Interruption => Actor::UserAs("interrupt"),
            EntryRole::Compaction | EntryRole::CompactSummary => Actor::SystemCompact,
            EntryRole::Error => Actor::SystemError,
            EntryRole::Injected | EntryRole::Attachment | EntryRole::Progress => Actor::SystemMetadata,
            EntryRole::Event if node.is_meta() => Actor::SystemMetadata,
            EntryRole::Event | EntryRole::CommandOutput | EntryRole::Notification => Actor::System,
            EntryRole::Other if node.kind == EntryKind::Unknown => {
                Actor::Unknown(self.label(id).unwrap_or("no type"))
            }
            EntryRole::Other => Actor::Unknown(node.kind.as_str()),
        }
    }
}
