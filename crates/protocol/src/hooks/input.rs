//! Input of hooks.

use super::compact::{PostCompact, PreCompact};
use super::elicitation::{ElicitationRequested, ElicitationResult};
use super::event::HookEvent;
use super::model_switch::{PostModelSwitch, PreModelSwitch};
use super::prompt::{MessageDisplay, Notification, UserPromptExpansion, UserPromptSubmit};
use super::session::{SessionEnd, SessionStart, Setup, Stop, StopFailure, SubagentStart, SubagentStop};
use super::team::{TaskCompleted, TaskCreated, TeammateIdle};
use super::tool::{
    PermissionDenied, PermissionRequested, PostToolBatch, PostToolUse, PostToolUseFailure, PreToolUse,
};
use super::workspace::{
    ConfigChange, CwdChanged, DirectoryAdded, FileChanged, InstructionsLoaded, WorktreeCreate, WorktreeRemove,
};
use crate::control::EffortLevel;
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Cursor, Extra, Misfit, Reading, Wire, object};
use crate::permissions::PermissionMode;

/// Input of a hook: the fields common to all events, and those of the event.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct HookInput {
    /// Fields common to all events.
    pub base: HookBase,
    /// Fields of the event.
    pub event: HookEventInput,
}

object! {
    /// Fields common to all events.
    pub struct HookBase {
        opt session_id: String,
        opt transcript_path: String,
        opt cwd: String,
        /// Prompt that the event belongs to.
        opt prompt_id: String,
        opt permission_mode: PermissionMode,
        /// Sub-agent in which the event happened; absent in the main conversation.
        opt agent_id: String,
        opt agent_type: String,
        opt effort: HookEffort,
        opt hook_event_name: HookEvent,
    }

    /// Effort level of the model.
    pub struct HookEffort {
        opt level: EffortLevel,
    }
}

/// Keys of [`HookBase`]; all others belong to the event.
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
        /// Fields of an event, distinguished by `hook_event_name`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum HookEventInput {
            $( $(#[$meta])* $Name($Name), )+
            /// Members of an event without a type in this crate, or whose members do not fit it.
            Unknown(Extra),
        }

        impl HookEventInput {
            /// Name of the event; `None` for an event without a type in this crate.
            pub fn name(&self) -> Option<HookEvent> {
                match self {
                    $( HookEventInput::$Name(_) => Some(HookEvent::from($event)), )+
                    HookEventInput::Unknown(_) => None,
                }
            }

            /// Reads the fields of the event from the remaining members.
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
    /// A notification for the user.
    Notification = "Notification",
    /// A prompt was sent.
    UserPromptSubmit = "UserPromptSubmit",
    /// A command was expanded into a prompt.
    UserPromptExpansion = "UserPromptExpansion",
    /// A session starts.
    SessionStart = "SessionStart",
    /// A session ends.
    SessionEnd = "SessionEnd",
    /// The turn is about to end.
    Stop = "Stop",
    /// The turn ended with an API error.
    StopFailure = "StopFailure",
    /// A sub-agent starts.
    SubagentStart = "SubagentStart",
    /// A sub-agent is about to end.
    SubagentStop = "SubagentStop",
    /// The conversation is about to be compacted.
    PreCompact = "PreCompact",
    /// The conversation was compacted.
    PostCompact = "PostCompact",
    /// The model is about to change.
    PreModelSwitch = "PreModelSwitch",
    /// The model has changed.
    PostModelSwitch = "PostModelSwitch",
    /// The user is about to be asked for permission.
    PermissionRequested = "PermissionRequest",
    /// A tool call was denied.
    PermissionDenied = "PermissionDenied",
    /// The CLI was started for setup.
    Setup = "Setup",
    /// A teammate is idle.
    TeammateIdle = "TeammateIdle",
    /// A task was created.
    TaskCreated = "TaskCreated",
    /// A task was completed.
    TaskCompleted = "TaskCompleted",
    /// An MCP server asks the user for input.
    ElicitationRequested = "Elicitation",
    /// The user answered an MCP server.
    ElicitationResult = "ElicitationResult",
    /// A settings file has changed.
    ConfigChange = "ConfigChange",
    /// A worktree is requested.
    WorktreeCreate = "WorktreeCreate",
    /// A worktree is no longer needed.
    WorktreeRemove = "WorktreeRemove",
    /// A memory file was loaded.
    InstructionsLoaded = "InstructionsLoaded",
    /// The working folder has changed.
    CwdChanged = "CwdChanged",
    /// A watched file has changed.
    FileChanged = "FileChanged",
    /// A folder was added to the session.
    DirectoryAdded = "DirectoryAdded",
    /// A delta of a message is about to be shown.
    MessageDisplay = "MessageDisplay",
}

impl HookInput {
    /// An event with its common fields, and with the name of the event set.
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
        // The base keeps the members that it has no field for; the event reads those, and each keeps its own
        // rest.
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

/// Splits members into those with a key of the base, and the others.
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
