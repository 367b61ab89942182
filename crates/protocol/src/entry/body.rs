//! An entry as an owned value, by its kind.

use super::{
    AgentColor, AgentName, AgentSetting, AiTitle, ApiRequest, ApiRequestBlob, ApiRequestShape,
    AssistantEntry, AtisLatch, AttachmentEntry, BridgeSession, CompactSystemEntry, ContentReplacement,
    CostState, CustomTitle, EntryKind, EntryRef, Envelope, FileHistoryDelta, FileHistorySnapshot,
    ForkContextRef, FrameLink, IsolationLatch, LastPrompt, Mode, PermissionModeChange, PrLink, ProgressEntry,
    QueueOperation, Relocated, RewriteEntry, Summary, SystemEntry, Tag, ToolsUsed, UserEntry, WorktreeState,
};
use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Cursor, Extra, Misfit, Reading, Refused, Wire, object};
use crate::messages::Unknown;

/// Declares the bodies. Each variant is named after its [`EntryKind`].
macro_rules! bodies {
    (
        chained { $( $(#[$cmeta:meta])* $Chained:ident($ChainedType:ty), )+ }
        side { $( $(#[$smeta:meta])* $Side:ident($SideType:ty), )+ }
    ) => {
        /// An entry as an owned value.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum EntryBody {
            $( $(#[$cmeta])* $Chained(Box<$ChainedType>), )+
            $( $(#[$smeta])* $Side($SideType), )+
            /// A side record of a known kind that is internal to the CLI.
            Bookkeeping(Bookkeeping),
            /// An entry that is new, foreign or unreadable.
            Unknown(Unknown),
        }

        impl EntryBody {
            /// Reads an entry of a known kind; `None` for an unknown kind.
            fn read_known(entry: &EntryRef<'_>, reading: &mut Reading) -> Result<Option<Self>, Misfit> {
                let cursor = &mut entry.json().cursor();
                Ok(Some(match entry.kind() {
                    $( EntryKind::$Chained => EntryBody::$Chained(Box::new(read_object(cursor, reading, TAKEN)?)), )+
                    $( EntryKind::$Side => EntryBody::$Side(read_object(cursor, reading, TAKEN)?), )+
                    EntryKind::Unknown => return Ok(None),
                    kind => EntryBody::Bookkeeping(Bookkeeping::read(kind, entry)),
                }))
            }

            /// Kind of the entry, from its `type`.
            pub fn kind(&self) -> EntryKind {
                match self {
                    $( EntryBody::$Chained(_) => EntryKind::$Chained, )+
                    $( EntryBody::$Side(_) => EntryKind::$Side, )+
                    EntryBody::Bookkeeping(record) => record.kind,
                    EntryBody::Unknown(unknown) => unknown.kind.as_deref().map_or(EntryKind::Unknown, EntryKind::of),
                }
            }

            /// Envelope of the entry, if it is part of the tree.
            pub fn envelope(&self) -> Option<&Envelope> {
                match self {
                    $( EntryBody::$Chained(entry) => Some(&entry.envelope), )+
                    _ => None,
                }
            }

            /// Mutable envelope of the entry, if it is part of the tree.
            pub fn envelope_mut(&mut self) -> Option<&mut Envelope> {
                match self {
                    $( EntryBody::$Chained(entry) => Some(&mut entry.envelope), )+
                    _ => None,
                }
            }

            fn write_members(&self, out: &mut ObjectOut<'_>) {
                match self {
                    $( EntryBody::$Chained(entry) => entry.write_members(out), )+
                    $( EntryBody::$Side(record) => record.write_members(out), )+
                    EntryBody::Bookkeeping(record) => out.extra(&record.fields, &|key| key == "type"),
                    EntryBody::Unknown(_) => {}
                }
            }
        }

        $(
            impl From<$SideType> for EntryBody {
                fn from(record: $SideType) -> Self {
                    EntryBody::$Side(record)
                }
            }
        )+
    };
}

bodies! {
    chained {
        /// A message of the user, a tool or the client to the model.
        User(UserEntry),
        /// A content block of a response.
        Assistant(AssistantEntry),
        /// An event of the session.
        System(SystemEntry),
        /// Additional context for the model.
        Attachment(AttachmentEntry),
        /// Progress of a tool.
        Progress(ProgressEntry),
        /// A step of a compaction, in the session specification.
        CompactSystem(CompactSystemEntry),
        /// A prompt, in the later revision of the session specification.
        Human(RewriteEntry),
        /// A tool's result, in the later revision of the session specification.
        ToolResult(RewriteEntry),
        /// Entries preserved by a compaction, in the later revision of the session specification.
        CompactPrelude(RewriteEntry),
        /// Summary of a compaction, in the later revision of the session specification.
        CompactRecap(RewriteEntry),
    }
    side {
        /// Summary of a branch.
        Summary(Summary),
        /// Title given by a model.
        AiTitle(AiTitle),
        /// Title given by the user.
        CustomTitle(CustomTitle),
        /// The name of the session's agent.
        AgentName(AgentName),
        /// Colour of the session's agent.
        AgentColor(AgentColor),
        /// Agent that the session runs as.
        AgentSetting(AgentSetting),
        /// Tag set by the user.
        Tag(Tag),
        /// Normal or coordinator.
        Mode(Mode),
        /// The permission mode changed.
        PermissionMode(PermissionModeChange),
        /// The last prompt and the leaf to resume from.
        LastPrompt(LastPrompt),
        /// A prompt was queued or dequeued.
        QueueOperation(QueueOperation),
        /// State of the files at a message.
        FileHistorySnapshot(FileHistorySnapshot),
        /// One more file of a file history snapshot.
        FileHistoryDelta(FileHistoryDelta),
        /// Cost of the session.
        CostState(CostState),
        /// A request to the API.
        ApiRequest(ApiRequest),
        /// Parts shared by requests.
        ApiRequestShape(ApiRequestShape),
        /// A message of requests.
        ApiRequestBlob(ApiRequestBlob),
        /// The tools called so far.
        ToolsUsed(ToolsUsed),
        /// A latched client setting.
        AtisLatch(AtisLatch),
        /// A latched client setting.
        IsolationLatch(IsolationLatch),
        /// The session entered or left a worktree.
        WorktreeState(WorktreeState),
        /// The session moved to another folder.
        Relocated(Relocated),
        /// A pull request of the session.
        PrLink(PrLink),
        /// A page of the session.
        FrameLink(FrameLink),
        /// The session is shared through a bridge.
        BridgeSession(BridgeSession),
        /// Tool results that were replaced by shorter ones.
        ContentReplacement(ContentReplacement),
        /// Origin of a forked agent's context.
        ForkContextRef(ForkContextRef),
    }
}

/// A side record, kept unchanged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Bookkeeping {
    /// Kind of the record, from its `type`.
    pub kind: EntryKind,
    /// Every other key.
    pub fields: Extra,
}

/// An entry as an owned value, with the fields that did not fit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TypedEntry {
    /// The value.
    pub body: EntryBody,
    /// Optional fields that did not fit; they are kept raw in the value's `extra`.
    pub refused: Vec<Refused>,
}

const TAKEN: &[&str] = &["type"];

impl EntryBody {
    /// Reads an entry. Never fails: an unreadable entry becomes [`EntryBody::Unknown`], with the reason.
    pub(super) fn read_entry(entry: &EntryRef<'_>, reading: &mut Reading) -> Self {
        let reason = match Self::read_known(entry, reading) {
            Ok(Some(mut body)) => {
                body.imply_role();
                return body;
            }
            Ok(None) => None,
            Err(misfit) => Some(misfit),
        };
        reading.refused.clear();
        EntryBody::Unknown(Unknown {
            kind: entry.type_name().map(Into::into),
            subtype: entry.subtype().map(Into::into),
            raw: entry.json().to_json(),
            reason,
        })
    }

    /// The `type` in the file; empty when it is missing.
    pub fn type_name(&self) -> &str {
        match self {
            EntryBody::Unknown(unknown) => unknown.kind.as_deref().unwrap_or_default(),
            known => known.kind().as_str(),
        }
    }

    /// The entry as one line of JSON, without the line end.
    pub fn to_line(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn imply_role(&mut self) {
        let (message, role) = match self {
            EntryBody::User(entry) => (&mut entry.message, "user"),
            EntryBody::Assistant(entry) => (&mut entry.message, "assistant"),
            EntryBody::Human(entry) | EntryBody::ToolResult(entry) => (&mut entry.message, "user"),
            _ => return,
        };
        if let Some(message) = message {
            message.imply_role(role);
        }
    }
}

impl Bookkeeping {
    fn read(kind: EntryKind, entry: &EntryRef<'_>) -> Self {
        let mut fields = Extra::default();
        let mut cursor = entry.json().cursor();
        if cursor.enter_object() {
            while let Some((key, member)) = cursor.next_member() {
                if key != "type" {
                    fields.keep(member);
                }
            }
        }
        Bookkeeping { kind, fields }
    }
}

impl Wire for EntryBody {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let raw = cursor.raw();
        match EntryRef::decode(raw.as_str().as_bytes()) {
            Ok(entry) => Ok(EntryBody::read_entry(&entry, reading)),
            Err(_) => Err(Misfit::here(&mut raw.cursor(), "an object")),
        }
    }

    fn write(&self, out: &mut String) {
        if let EntryBody::Unknown(unknown) = self {
            return unknown.raw.write(out);
        }
        let mut object = ObjectOut::open(out);
        object.string("type", self.type_name());
        self.write_members(&mut object);
        object.close();
    }
}

object!(@through_wire EntryBody);
