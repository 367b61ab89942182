//! The table of hook events.
//!
//! A row has the constant of [`HookEvent`] and its name on the wire, the type of the event's fields (a
//! variant of [`HookEventInput`]), and the event's variant of [`HookSpecificOutput`] if it takes output of
//! its own.

use super::input::BASE_KEYS;
use crate::control::tagged::tagged;
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Extra, Misfit, Raw, Reading, open_string};

/// An event type that hooks can be typed with: each of the event types in this module.
pub trait HookKind: Sized + Send + 'static {
    /// The kind of event.
    const EVENT: HookEvent;

    /// Converts the input, if it is this event.
    fn of(input: HookEventInput) -> Option<Self>;
}

macro_rules! hook_events {
    ($(
        $(#[$meta:meta])*
        $CONST:ident = $event:literal: $Input:ident $(=> $Output:ident($Body:ident))?,
    )+) => {
        open_string! {
            /// An event that hooks can be registered for.
            pub struct HookEvent { $( $CONST = $event, )+ }
        }

        /// Fields of an event, distinguished by `hook_event_name`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum HookEventInput {
            $( $(#[$meta])* $Input(super::$Input), )+
            /// Members of an event without a type in this crate, or whose members do not fit it.
            Unknown(Extra),
        }

        impl HookEventInput {
            /// Name of the event; `None` for an event without a type in this crate.
            pub fn name(&self) -> Option<HookEvent> {
                match self {
                    $( HookEventInput::$Input(_) => Some(HookEvent::$CONST), )+
                    HookEventInput::Unknown(_) => None,
                }
            }

            /// Reads the fields of the event from the members that are not common to all events.
            pub(super) fn read_members(
                event: Option<&str>,
                members: &Extra,
                reading: &mut Reading,
            ) -> Result<Option<Self>, Misfit> {
                let mut cursor = members.cursor();
                Ok(match event {
                    $(
                        Some($event) => {
                            Some(super::$Input::read_members(&mut cursor, reading, BASE_KEYS)?.into())
                        }
                    )+
                    _ => None,
                })
            }

            pub(super) fn write_members(&self, object: &mut ObjectOut<'_>) {
                match self {
                    $( HookEventInput::$Input(event) => event.write_members(object), )+
                    HookEventInput::Unknown(members) => object.extra(members, &|_| false),
                }
            }
        }

        $(
            impl From<super::$Input> for HookEventInput {
                fn from(event: super::$Input) -> Self {
                    HookEventInput::$Input(event)
                }
            }

            impl HookKind for super::$Input {
                const EVENT: HookEvent = HookEvent::$CONST;

                fn of(input: HookEventInput) -> Option<Self> {
                    match input {
                        HookEventInput::$Input(event) => Some(event),
                        _ => None,
                    }
                }
            }
        )+

        tagged! {
            /// Output of a hook for its event, distinguished by `hookEventName`. Events not listed here take
            /// none.
            pub enum HookSpecificOutput by "hookEventName" {
                $( $( $Output(super::$Body) = $event, )? )+
            }
        }

        impl HookSpecificOutput {
            /// Name of the event that the output is for; `None` if it has none.
            pub fn event(&self) -> Option<HookEvent> {
                match self {
                    $( $( HookSpecificOutput::$Output(_) => Some(HookEvent::from($event)), )? )+
                    HookSpecificOutput::Unknown(raw) => {
                        let name = raw.raw().get("hookEventName").and_then(Raw::text)?;
                        Some(HookEvent::from(&*name.get()))
                    }
                }
            }
        }
    };
}

hook_events! {
    /// A tool is about to run.
    PRE_TOOL_USE = "PreToolUse": PreToolUse => PreToolUse(PreToolUseOutput),
    /// A tool has run.
    POST_TOOL_USE = "PostToolUse": PostToolUse => PostToolUse(PostToolUseOutput),
    /// A tool has failed.
    POST_TOOL_USE_FAILURE = "PostToolUseFailure": PostToolUseFailure => PostToolUseFailure(ContextOutput),
    /// All tools of a message have run.
    POST_TOOL_BATCH = "PostToolBatch": PostToolBatch => PostToolBatch(ContextOutput),
    /// A notification for the user.
    NOTIFICATION = "Notification": Notification => Notification(ContextOutput),
    /// A prompt was sent.
    USER_PROMPT_SUBMIT = "UserPromptSubmit": UserPromptSubmit => UserPromptSubmit(UserPromptSubmitOutput),
    /// A command was expanded into a prompt.
    USER_PROMPT_EXPANSION = "UserPromptExpansion": UserPromptExpansion
        => UserPromptExpansion(UserPromptExpansionOutput),
    /// A session starts.
    SESSION_START = "SessionStart": SessionStart => SessionStart(SessionStartOutput),
    /// A session ends.
    SESSION_END = "SessionEnd": SessionEnd,
    /// The turn is about to end.
    STOP = "Stop": Stop => Stop(ContextOutput),
    /// The turn ended with an API error.
    STOP_FAILURE = "StopFailure": StopFailure,
    /// A sub-agent starts.
    SUBAGENT_START = "SubagentStart": SubagentStart => SubagentStart(ContextOutput),
    /// A sub-agent is about to end.
    SUBAGENT_STOP = "SubagentStop": SubagentStop => SubagentStop(ContextOutput),
    /// The conversation is about to be compacted.
    PRE_COMPACT = "PreCompact": PreCompact,
    /// The conversation was compacted.
    POST_COMPACT = "PostCompact": PostCompact,
    /// The model is about to change.
    PRE_MODEL_SWITCH = "PreModelSwitch": PreModelSwitch => PreModelSwitch(PermissionDecisionOutput),
    /// The model has changed.
    POST_MODEL_SWITCH = "PostModelSwitch": PostModelSwitch => PostModelSwitch(ContextOutput),
    /// The user is about to be asked for permission.
    PERMISSION_REQUEST = "PermissionRequest": PermissionRequested
        => PermissionRequest(PermissionRequestOutput),
    /// A tool call was denied.
    PERMISSION_DENIED = "PermissionDenied": PermissionDenied => PermissionDenied(PermissionDeniedOutput),
    /// The CLI was started for setup.
    SETUP = "Setup": Setup => Setup(ContextOutput),
    /// A teammate is idle.
    TEAMMATE_IDLE = "TeammateIdle": TeammateIdle,
    /// A task was created.
    TASK_CREATED = "TaskCreated": TaskCreated,
    /// A task was completed.
    TASK_COMPLETED = "TaskCompleted": TaskCompleted,
    /// An MCP server asks the user for input.
    ELICITATION = "Elicitation": ElicitationRequested => Elicitation(ElicitationOutput),
    /// The user answered an MCP server.
    ELICITATION_RESULT = "ElicitationResult": ElicitationResult => ElicitationResult(ElicitationOutput),
    /// A settings file has changed.
    CONFIG_CHANGE = "ConfigChange": ConfigChange,
    /// A worktree is requested.
    WORKTREE_CREATE = "WorktreeCreate": WorktreeCreate => WorktreeCreate(WorktreeCreateOutput),
    /// A worktree is no longer needed.
    WORKTREE_REMOVE = "WorktreeRemove": WorktreeRemove,
    /// A memory file was loaded.
    INSTRUCTIONS_LOADED = "InstructionsLoaded": InstructionsLoaded,
    /// The working folder has changed.
    CWD_CHANGED = "CwdChanged": CwdChanged => CwdChanged(WatchOutput),
    /// A watched file has changed.
    FILE_CHANGED = "FileChanged": FileChanged => FileChanged(WatchOutput),
    /// A folder was added to the session.
    DIRECTORY_ADDED = "DirectoryAdded": DirectoryAdded,
    /// A delta of a message is about to be shown.
    MESSAGE_DISPLAY = "MessageDisplay": MessageDisplay => MessageDisplay(MessageDisplayOutput),
}
