//! Bodies of requests and responses of the server's API, apart from the events of
//! [`ui`](tidings_protocol::ui), and the codes of its errors.
//!
//! Times are text as in RFC 3339. A `cursor` is the position of an event in a session; clients treat it as
//! opaque. Optional fields without a value are omitted.

mod answer;
mod code;
mod device;
mod fleet;
mod inbox;
mod input;
mod kept;
mod list;
mod marks;
mod notify;
mod problem;
mod scope;
mod session;
mod socket;
mod stream;
mod transcript;
mod trust;
mod workspace;

pub use answer::{
    AnswerResult, BatchAnswer, BatchAnswerItem, BatchAnswered, Choice, PendingPermission, PendingQuestion,
    PermissionAnswer, QuestionAnswer, QuestionReply,
};
pub use code::Code;
pub use device::{
    CredentialKind, Device, DeviceList, GrantScopes, NewCredential, NewDevice, PairRequest, PairingCode,
};
pub use fleet::{
    FleetAudit, FleetContinue, FleetDrain, FleetInvite, FleetInviteRequest, FleetNode, FleetPlace,
    FleetProject, FleetStatus, FleetStorage, FleetStorageMax,
};
pub use inbox::{
    DeliveryState, InboxAct, InboxActed, InboxCounts, InboxDelivery, InboxItem, InboxKind, InboxPage,
    InboxRead, InboxRequest, InboxSeen, InboxVisible,
};
pub use input::{
    Accepted, Attachment, CommandRequest, Delivery, INPUT_BYTES_MAX, Input, QueueState, QueuedInput, Rewound,
};
pub use kept::Kept;
pub use list::{
    AgentOption, AgentOptionValue, ArchiveItem, ArchiveList, ArchiveRequest, ArchiveRestored, ArchiveRound,
    ArchiveWhich, Completions, FolderItem, FolderList, HistoryEvent, HistoryPage, Meta, MetaCaller,
    MetaClaude, MetaLimits, ModelChoice, ModelList, PermissionList, QuestionList, QueueList, WholeCall,
    WholePrompt, WorkingTree,
};
pub use marks::{MarkList, PatchMarks, SessionMarks};
pub use notify::{
    NewNotifyTarget, NotifyKind, NotifySettings, NotifyTarget, NotifyTargets, NotifyTest, PushActions,
    PushDevice, PushKeys, PushMessage, PushState, PushSubscription, QuietHours, TargetSource, TargetState,
};
pub use problem::Problem;
pub use scope::{Scope, Scopes, UnknownScope};
pub use session::{
    Budget, CreateSession, ForkPoint, PatchSession, Policy, ServerPhase, SessionCapability, SessionList,
    SessionOrigin, SessionView, Totals,
};
pub use socket::{RequestId, ResyncReason, SessionCommand, SocketAck, SocketMessage, SocketRequest};
pub use stream::{Notice, Snapshot, Subscribed, Verdict};
pub use tidings_protocol::sums::{CostRow, CostTotal, TranscriptStats};
pub use tidings_protocol::ui::PermissionScope;
pub use transcript::{
    CostReport, CostUnpriced, PatchTranscript, Transcript, TranscriptBranch, TranscriptBranches,
    TranscriptEvents, TranscriptHit, TranscriptHits, TranscriptList, TranscriptSummary,
};
pub use trust::{
    FolderDefaults, FolderDefaultsList, FolderPolicy, FolderPolicyList, FolderTrust, FoundCommand,
    SetFolderPolicy, TrustRequest, TrustedFolderList,
};
pub use workspace::{
    CommitMade, CommitRequest, FileItem, FileKind, FileList, FileText, RemoveWorktree, SessionWorktree,
    SessionWorktreeState, StageRequest,
};

/// Declares types that cross the network: read, written, and described as JSON Schema, TypeScript and
/// `OpenAPI`.
macro_rules! shapes {
    ($(
        $(#[$meta:meta])*
        pub struct $Name:ident { $( $(#[$field_meta:meta])* pub $field:ident: $Type:ty, )* }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub struct $Name { $( $(#[$field_meta])* pub $field: $Type, )* }
    )+};
}

/// Declares closed enums, written in `snake_case`.
macro_rules! closed_enums {
    ($(
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$word_meta:meta])* $Word:ident, )+ }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $Name { $( $(#[$word_meta])* $Word, )+ }
    )+};
}

/// Declares closed enums with the words of their variants, and the list of all.
macro_rules! named_enums {
    ($(
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$word_meta:meta])* $Word:ident = $word:literal, )+ }
    )+) => {
        closed_enums! { $( $(#[$meta])* pub enum $Name { $( $(#[$word_meta])* $Word, )+ } )+ }

        $( impl $Name {
            /// All of them, in the order of their declaration.
            pub const ALL: [$Name; [$( $word ),+].len()] = [$( $Name::$Word ),+];

            /// The word in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $( $Name::$Word => $word, )+ }
            }
        } )+
    };
}

/// Declares enums that later versions extend, written in `snake_case`. A value that is not known decodes as
/// `Unknown`: servers of a fleet may have different versions.
macro_rules! open_enums {
    ($(
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$word_meta:meta])* $Word:ident, )+ }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $Name {
            $( $(#[$word_meta])* $Word, )+
            /// A value of a later version.
            Unknown,
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::IntoDeserializer as _;
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "snake_case")]
                enum Known { $( $Word, )+ }
                let word = <String as serde::Deserialize>::deserialize(deserializer)?;
                let known = <Known as serde::Deserialize>::deserialize(word.as_str().into_deserializer());
                Ok(match known.map_err(|_: serde::de::value::Error| ()) {
                    $( Ok(Known::$Word) => $Name::$Word, )+
                    Err(()) => $Name::Unknown,
                })
            }
        }
    )+};
}

use {closed_enums, named_enums, open_enums, shapes};
