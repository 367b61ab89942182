//! What a hook is told.

use super::compact::{PostCompact, PreCompact};
use super::elicitation::{Elicitation, ElicitationResult};
use super::event::HookEvent;
use super::model_switch::{PostModelSwitch, PreModelSwitch};
use super::prompt::{MessageDisplay, Notification, UserPromptExpansion, UserPromptSubmit};
use super::session::{SessionEnd, SessionStart, Setup, Stop, StopFailure, SubagentStart, SubagentStop};
use super::team::{TaskCompleted, TaskCreated, TeammateIdle};
use super::tool::{
    PermissionDenied, PermissionRequest, PostToolBatch, PostToolUse, PostToolUseFailure, PreToolUse,
};
use super::workspace::{
    ConfigChange, CwdChanged, DirectoryAdded, FileChanged, InstructionsLoaded, WorktreeCreate, WorktreeRemove,
};
use crate::control::EffortLevel;
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Cursor, Extra, Misfit, Reading, Wire, object};
use crate::permissions::PermissionMode;

/// What a hook is told: what every event has, and what the event itself brings.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct HookInput {
    /// What every event has.
    pub base: HookBase,
    /// What the event itself brings.
    pub event: HookEventInput,
}

object! {
    /// What every event has.
    pub struct HookBase {
        opt session_id: String,
        opt transcript_path: String,
        opt cwd: String,
        /// The prompt that the event belongs to.
        opt prompt_id: String,
        opt permission_mode: PermissionMode,
        /// The subagent in which the event happened; absent in the main conversation.
        opt agent_id: String,
        opt agent_type: String,
        opt effort: HookEffort,
        opt hook_event_name: HookEvent,
    }

    /// How hard the model tries.
    pub struct HookEffort {
        opt level: EffortLevel,
    }
}

/// The keys of [`HookBase`]; all others belong to the event.
const BASE_KEYS: &[&str] = &[
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "effort",
    "hook_event_name",
];

/// Declares [`HookEventInput`] from the table of events.
macro_rules! events {
    ($( $(#[$meta:meta])* $Name:ident = $event:literal, )+) => {
        /// What an event brings, told apart by `hook_event_name`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum HookEventInput {
            $( $(#[$meta])* $Name($Name), )+
            /// The members of an event that has no type here, or whose members do not fit it.
            Unknown(Extra),
        }

        impl HookEventInput {
            /// The event's name; nothing for an event that has no type here.
            pub fn name(&self) -> Option<HookEvent> {
                match self {
                    $( HookEventInput::$Name(_) => Some(HookEvent::from($event)), )+
                    HookEventInput::Unknown(_) => None,
                }
            }

            /// Reads what the event brings out of the members that are left.
            fn read_members(
                event: Option<&str>,
                members: &Extra,
                reading: &mut Reading,
            ) -> Result<Option<Self>, Misfit> {
                let mut cursor = members.cursor();
                Ok(match event {
                    $( Some($event) => Some(HookEventInput::$Name($Name::read_members(&mut cursor, reading, BASE_KEYS)?)), )+
                    _ => None,
                })
            }

            fn write_members(&self, object: &mut ObjectOut<'_>) {
                match self {
                    $( HookEventInput::$Name(event) => event.write_members(object), )+
                    HookEventInput::Unknown(members) => object.extra(members, |_| false),
                }
            }
        }

        $(
            impl From<$Name> for HookEventInput {
                fn from(event: $Name) -> Self {
                    HookEventInput::$Name(event)
                }
            }
        )+
    };
}

events! {
    /// A tool is about to run.
    PreToolUse = "PreToolUse",
    /// A tool has run.
    PostToolUse = "PostToolUse",
    /// A tool has failed.
    PostToolUseFailure = "PostToolUseFailure",
    /// All tools of a message have run.
    PostToolBatch = "PostToolBatch",
    /// The user should know something.
    Notification = "Notification",
    /// A prompt was sent.
    UserPromptSubmit = "UserPromptSubmit",
    /// A prompt was made out of a command.
    UserPromptExpansion = "UserPromptExpansion",
    /// A session begins.
    SessionStart = "SessionStart",
    /// A session ends.
    SessionEnd = "SessionEnd",
    /// The turn is about to end.
    Stop = "Stop",
    /// The turn ended with an error of the API.
    StopFailure = "StopFailure",
    /// A subagent begins.
    SubagentStart = "SubagentStart",
    /// A subagent is about to end.
    SubagentStop = "SubagentStop",
    /// The conversation is about to be compacted.
    PreCompact = "PreCompact",
    /// The conversation was compacted.
    PostCompact = "PostCompact",
    /// The model is about to change.
    PreModelSwitch = "PreModelSwitch",
    /// The model has changed.
    PostModelSwitch = "PostModelSwitch",
    /// Somebody is about to be asked whether a tool may run.
    PermissionRequest = "PermissionRequest",
    /// A tool may not run.
    PermissionDenied = "PermissionDenied",
    /// The CLI was started to set something up.
    Setup = "Setup",
    /// A teammate has nothing to do.
    TeammateIdle = "TeammateIdle",
    /// A task was put on the list.
    TaskCreated = "TaskCreated",
    /// A task was done.
    TaskCompleted = "TaskCompleted",
    /// An MCP server asks the user something.
    Elicitation = "Elicitation",
    /// The user answered an MCP server.
    ElicitationResult = "ElicitationResult",
    /// A settings file has changed.
    ConfigChange = "ConfigChange",
    /// A worktree is wanted.
    WorktreeCreate = "WorktreeCreate",
    /// A worktree is no longer wanted.
    WorktreeRemove = "WorktreeRemove",
    /// A memory file was loaded.
    InstructionsLoaded = "InstructionsLoaded",
    /// The working folder has changed.
    CwdChanged = "CwdChanged",
    /// A watched file has changed.
    FileChanged = "FileChanged",
    /// A folder was added to the session.
    DirectoryAdded = "DirectoryAdded",
    /// A piece of a message is about to be shown.
    MessageDisplay = "MessageDisplay",
}

impl HookInput {
    /// An event and what is common to all, with the name of the event set.
    pub fn new(base: HookBase, event: impl Into<HookEventInput>) -> Self {
        let event = event.into();
        let hook_event_name = event.name().or(base.hook_event_name);
        HookInput { base: HookBase { hook_event_name, ..base }, event }
    }
}

impl Default for HookEventInput {
    fn default() -> Self {
        HookEventInput::Unknown(Extra::default())
    }
}

impl Wire for HookInput {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let mut base = HookBase::read(cursor, reading)?;
        // The base keeps what is not its own; the event reads that, and each ends up with the rest of its own.
        let members = std::mem::take(&mut base.extra);
        let before = reading.refused.len();
        let event = base.hook_event_name.as_ref().map(HookEvent::as_str);
        let event = HookEventInput::read_members(event, &members, reading).unwrap_or_else(|misfit| {
            reading.refused.truncate(before);
            reading.refused.push(misfit);
            None
        });
        let (own, others) = split(&members);
        base.extra = own;
        Ok(HookInput { base, event: event.unwrap_or(HookEventInput::Unknown(others)) })
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectOut::open(out);
        self.base.write_members(&mut object);
        self.event.write_members(&mut object);
        object.close();
    }
}

object!(@through_wire HookInput);

/// The members whose keys are the base's, and the others.
fn split(members: &Extra) -> (Extra, Extra) {
    let (mut own, mut others) = (Extra::default(), Extra::default());
    let mut cursor = members.cursor();
    while let Some((key, member)) = cursor.next_member() {
        if BASE_KEYS.contains(&&*key.get()) {
            own.keep(member);
        } else {
            others.keep(member);
        }
    }
    (own, others)
}
