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

/// Declares the bodies. Each variant has the name of its [`EntryKind`].
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
            /// A side record of a known kind that nobody outside the CLI needs to look into.
            Bookkeeping(Bookkeeping),
            /// An entry that is new, foreign, or could not be read.
            Unknown(Unknown),
        }

        impl EntryBody {
            /// `None` if nobody knows the kind.
            fn read_known(entry: &EntryRef<'_>, reading: &mut Reading) -> Result<Option<Self>, Misfit> {
                let cursor = &mut entry.json().cursor();
                Ok(Some(match entry.kind() {
                    $( EntryKind::$Chained => EntryBody::$Chained(Box::new(read_object(cursor, reading, TAKEN)?)), )+
                    $( EntryKind::$Side => EntryBody::$Side(read_object(cursor, reading, TAKEN)?), )+
                    EntryKind::Unknown => return Ok(None),
                    kind => EntryBody::Bookkeeping(Bookkeeping::read(kind, entry)),
                }))
            }

            /// Which `type`.
            pub fn kind(&self) -> EntryKind {
                match self {
                    $( EntryBody::$Chained(_) => EntryKind::$Chained, )+
                    $( EntryBody::$Side(_) => EntryKind::$Side, )+
                    EntryBody::Bookkeeping(record) => record.kind,
                    EntryBody::Unknown(unknown) => unknown.kind.as_deref().map_or(EntryKind::Unknown, EntryKind::of),
                }
            }

            /// What the entry has around it, if it has a place in the tree.
            pub fn envelope(&self) -> Option<&Envelope> {
                match self {
                    $( EntryBody::$Chained(entry) => Some(&entry.envelope), )+
                    _ => None,
                }
            }

            /// The same, to change it.
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
                    EntryBody::Bookkeeping(record) => out.extra(&record.fields, |key| key == "type"),
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
        /// What a person, a tool or the client says to the model.
        User(UserEntry),
        /// A content block of a response.
        Assistant(AssistantEntry),
        /// An event of the session.
        System(SystemEntry),
        /// Something that the model is told next to the conversation.
        Attachment(AttachmentEntry),
        /// How a tool goes.
        Progress(ProgressEntry),
        /// A step of a compaction, in seed 001.
        CompactSystem(CompactSystemEntry),
        /// A prompt, in the rewrite of seed 001.
        Human(RewriteEntry),
        /// A tool's result, in the rewrite of seed 001.
        ToolResult(RewriteEntry),
        /// What a compaction kept, in the rewrite of seed 001.
        CompactPrelude(RewriteEntry),
        /// What a compaction summed up, in the rewrite of seed 001.
        CompactRecap(RewriteEntry),
    }
    side {
        /// What a branch is about.
        Summary(Summary),
        /// The title that a model gave.
        AiTitle(AiTitle),
        /// The title that a person gave.
        CustomTitle(CustomTitle),
        /// The name of the session's agent.
        AgentName(AgentName),
        /// Its colour.
        AgentColor(AgentColor),
        /// The agent that the session runs as.
        AgentSetting(AgentSetting),
        /// A person's tag.
        Tag(Tag),
        /// Normal or coordinator.
        Mode(Mode),
        /// The permission mode changed.
        PermissionMode(PermissionModeChange),
        /// The last prompt and the leaf to resume from.
        LastPrompt(LastPrompt),
        /// A prompt went into the queue or came out of it.
        QueueOperation(QueueOperation),
        /// The files as they stood at a message.
        FileHistorySnapshot(FileHistorySnapshot),
        /// One more file in such a snapshot.
        FileHistoryDelta(FileHistoryDelta),
        /// What the session has cost.
        CostState(CostState),
        /// A request to the API.
        ApiRequest(ApiRequest),
        /// What requests share.
        ApiRequestShape(ApiRequestShape),
        /// A message of requests.
        ApiRequestBlob(ApiRequestBlob),
        /// The tools called so far.
        ToolsUsed(ToolsUsed),
        /// A switch of the client.
        AtisLatch(AtisLatch),
        /// A switch of the client.
        IsolationLatch(IsolationLatch),
        /// The session went into a worktree or left it.
        WorktreeState(WorktreeState),
        /// The session moved to another folder.
        Relocated(Relocated),
        /// A pull request that belongs to the session.
        PrLink(PrLink),
        /// A page that belongs to the session.
        FrameLink(FrameLink),
        /// The session is shared through a bridge.
        BridgeSession(BridgeSession),
        /// Tool results that were replaced by shorter ones.
        ContentReplacement(ContentReplacement),
        /// Where a forked agent got its context.
        ForkContextRef(ForkContextRef),
    }
}

/// A side record kept as it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Bookkeeping {
    /// Which `type`.
    pub kind: EntryKind,
    /// Every other key.
    pub fields: Extra,
}

/// An entry as an owned value, and what did not fit on the way.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TypedEntry {
    /// The value.
    pub body: EntryBody,
    /// Optional fields that did not fit and are kept raw in the value's `extra`.
    pub refused: Vec<Refused>,
}

const TAKEN: &[&str] = &["type"];

impl EntryBody {
    /// Reads an entry. Never fails: what cannot be read is [`EntryBody::Unknown`], with the reason.
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

    /// The file's `type`; empty when it has none.
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
