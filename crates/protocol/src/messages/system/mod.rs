//! `system` frames: state of the CLI, its tasks and its session.
//!
//! The subtypes are declared in one table below. A row has the variant, the type of its body (in `frames.rs`)
//! and the subtype on the wire; [`SystemMessage`] and [`SystemView`] come from it.

mod frames;
mod init;
mod view;

use serde_json::Value;

use super::ids::{self, MessageIds};
use super::result::tree;
use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Cursor, Misfit, Raw, Reading, Wire, object};
pub use frames::*;
pub use init::{InitDetails, McpServerDetails, McpServerInfo, PluginError, PluginInfo, PluginLock, ToolInfo};
pub use view::SystemBody;

/// Keys that determine the kind of frame.
const TAKEN: &[&str] = &["type", "subtype"];

/// Declares one variant per subtype whose body is an object.
macro_rules! system_messages {
    ($( $(#[$meta:meta])* $Variant:ident($Body:ident) = $subtype:literal, )+) => {
        /// Lifecycle events of a session.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum SystemMessage {
            /// Start of a turn: description of the session. Repeated with every turn.
            Init {
                /// Session id.
                session_id: String,
                /// Tools available to the model.
                tools: Vec<ToolInfo>,
                /// The MCP servers.
                mcp_servers: Vec<McpServerInfo>,
                /// Every other key; see [`SystemMessage::init_details`].
                extra: Value,
            },
            /// Compaction mark of the `rusty_claw` wire format, without data. The real one is `Compacted`.
            CompactBoundary,
            /// History was compacted.
            Compacted(CompactBoundary),
            $( $(#[$meta])* $Variant($Body), )+
        }

        /// A `system` frame by its subtype, borrowed from its line; its body is decoded on access.
        ///
        /// The enum is exhaustive, unlike [`SystemMessage`]: code that handles every subtype does not compile
        /// when one is added.
        #[derive(Debug, Clone, Copy)]
        pub enum SystemView<'a> {
            /// Start of a turn: description of the session. Repeated with every turn.
            Init(SystemBody<'a, InitDetails>),
            /// History was compacted.
            CompactBoundary(SystemBody<'a, CompactBoundary>),
            $( $(#[$meta])* $Variant(SystemBody<'a, $Body>), )+
            /// A subtype without a type in this crate, or a frame of another kind.
            Unknown,
        }

        impl<'a> SystemView<'a> {
            pub(crate) fn of(subtype: &str, frame: Raw<'a>) -> Self {
                match subtype {
                    "init" => SystemView::Init(SystemBody::of(frame)),
                    "compact_boundary" => SystemView::CompactBoundary(SystemBody::of(frame)),
                    $( $subtype => SystemView::$Variant(SystemBody::of(frame)), )+
                    _ => SystemView::Unknown,
                }
            }
        }

        impl SystemMessage {
            /// Subtypes that have a variant.
            pub const KNOWN: &'static [&'static str] = &["init", "compact_boundary", $($subtype),+];

            /// The `subtype` on the wire.
            pub fn subtype(&self) -> &str {
                match self {
                    SystemMessage::Init { .. } => "init",
                    SystemMessage::CompactBoundary | SystemMessage::Compacted(_) => "compact_boundary",
                    $( SystemMessage::$Variant(_) => $subtype, )+
                }
            }

            pub(crate) fn read_frame(
                cursor: &mut Cursor<'_>,
                subtype: &str,
                reading: &mut Reading,
            ) -> Result<Self, Misfit> {
                match subtype {
                    "init" => read_init(cursor, reading),
                    "compact_boundary" => {
                        let boundary = read_object(cursor, reading, TAKEN)?;
                        Ok(if boundary == CompactBoundary::default() {
                            SystemMessage::CompactBoundary
                        } else {
                            SystemMessage::Compacted(boundary)
                        })
                    }
                    $( $subtype => read_object(cursor, reading, TAKEN).map(SystemMessage::$Variant), )+
                    _ => Err(Misfit { path: "subtype".to_owned(), expected: "a known subtype", found: subtype.to_owned() }),
                }
            }

            /// The ids of the message. The start of a turn is made with them.
            pub(super) fn ids_mut(&mut self) -> Option<MessageIds<'_>> {
                match self {
                    SystemMessage::Compacted(body) => Some(ids::of(&mut body.session_id, &mut body.uuid)),
                    $( SystemMessage::$Variant(body) => Some(ids::of(&mut body.session_id, &mut body.uuid)), )+
                    SystemMessage::Init { .. } | SystemMessage::CompactBoundary => None,
                }
            }

            /// Writes all members except `type`.
            pub(crate) fn write_members(&self, out: &mut ObjectOut<'_>) {
                out.string("subtype", self.subtype());
                match self {
                    SystemMessage::Init { session_id, tools, mcp_servers, extra } => {
                        out.field("session_id", session_id);
                        out.field("tools", tools);
                        out.field("mcp_servers", mcp_servers);
                        out.value_members(extra, |key| {
                            matches!(key, "type" | "subtype" | "session_id" | "tools" | "mcp_servers")
                        });
                    }
                    SystemMessage::Compacted(boundary) => boundary.write_members(out),
                    $( SystemMessage::$Variant(body) => body.write_members(out), )+
                    SystemMessage::CompactBoundary => {}
                }
            }
        }
    };
}

system_messages! {
    /// Current activity of the client, or a new permission mode.
    Status(Status) = "status",
    /// An API call failed and will be retried.
    ApiRetry(ApiRetry) = "api_retry",
    /// Progress of a long control request.
    ControlRequestProgress(ControlRequestProgress) = "control_request_progress",
    /// The model refused and another model takes over: remove the named messages.
    ModelRefusalFallback(ModelRefusalFallback) = "model_refusal_fallback",
    /// The model refused and no other model takes over.
    ModelRefusalNoFallback(ModelRefusalNoFallback) = "model_refusal_no_fallback",
    /// The model was overloaded and another model takes over.
    ModelFallback(ModelFallback) = "model_fallback",
    /// Output of a slash command that was not sent to the model.
    LocalCommandOutput(LocalCommandOutput) = "local_command_output",
    /// A hook started.
    HookStarted(HookStarted) = "hook_started",
    /// Output of a hook.
    HookProgress(HookProgress) = "hook_progress",
    /// A hook ended.
    HookResponse(HookResponse) = "hook_response",
    /// A plugin is being installed.
    PluginInstall(PluginInstall) = "plugin_install",
    /// A background command or a sub-agent started.
    TaskStarted(TaskStarted) = "task_started",
    /// Progress of a task.
    TaskProgress(TaskProgress) = "task_progress",
    /// A task changed; merge the fields.
    TaskUpdated(TaskUpdated) = "task_updated",
    /// A task ended.
    TaskNotification(TaskNotification) = "task_notification",
    /// The whole set of background tasks; replaces the previous one.
    BackgroundTasksChanged(BackgroundTasksChanged) = "background_tasks_changed",
    /// Length of hidden reasoning so far.
    ThinkingTokens(ThinkingTokens) = "thinking_tokens",
    /// The session is idle, running or waiting for the user.
    SessionStateChanged(SessionStateChangedFrame) = "session_state_changed",
    /// A remote worker shuts down.
    WorkerShuttingDown(WorkerShuttingDown) = "worker_shutting_down",
    /// The slash commands; replaces the previous list.
    CommandsChanged(CommandsChanged) = "commands_changed",
    /// A notification to show.
    Notification(NotificationFrame) = "notification",
    /// Files were stored.
    FilesPersisted(FilesPersisted) = "files_persisted",
    /// Memories were recalled.
    MemoryRecall(MemoryRecall) = "memory_recall",
    /// An elicitation on a web page was completed.
    ElicitationComplete(ElicitationComplete) = "elicitation_complete",
    /// A tool call was denied without a request.
    PermissionDenied(PermissionDeniedFrame) = "permission_denied",
    /// An SDK could not mirror the transcript.
    MirrorError(MirrorError) = "mirror_error",
    /// A banner.
    Informational(Informational) = "informational",
    /// The disk was full and session data was not written.
    SessionWritesLost(SessionWritesLost) = "session_writes_lost",
}

impl SystemView<'_> {
    /// Returns true for frames that say nothing about an error result before them: on its way out the CLI
    /// reports its state, or failures of its own.
    pub fn may_follow_an_error(self) -> bool {
        match self {
            SystemView::SessionStateChanged(_)
            | SystemView::SessionWritesLost(_)
            | SystemView::PluginInstall(_) => true,
            SystemView::Init(_)
            | SystemView::CompactBoundary(_)
            | SystemView::Status(_)
            | SystemView::ApiRetry(_)
            | SystemView::ControlRequestProgress(_)
            | SystemView::ModelRefusalFallback(_)
            | SystemView::ModelRefusalNoFallback(_)
            | SystemView::ModelFallback(_)
            | SystemView::LocalCommandOutput(_)
            | SystemView::HookStarted(_)
            | SystemView::HookProgress(_)
            | SystemView::HookResponse(_)
            | SystemView::TaskStarted(_)
            | SystemView::TaskProgress(_)
            | SystemView::TaskUpdated(_)
            | SystemView::TaskNotification(_)
            | SystemView::BackgroundTasksChanged(_)
            | SystemView::ThinkingTokens(_)
            | SystemView::WorkerShuttingDown(_)
            | SystemView::CommandsChanged(_)
            | SystemView::Notification(_)
            | SystemView::FilesPersisted(_)
            | SystemView::MemoryRecall(_)
            | SystemView::ElicitationComplete(_)
            | SystemView::PermissionDenied(_)
            | SystemView::MirrorError(_)
            | SystemView::Informational(_)
            | SystemView::Unknown => false,
        }
    }
}

impl SystemMessage {
    /// Start of a turn of a session without tools and MCP servers.
    pub fn init(session_id: impl Into<String>, details: &InitDetails) -> Self {
        SystemMessage::Init {
            session_id: session_id.into(),
            tools: Vec::new(),
            mcp_servers: Vec::new(),
            extra: serde_json::to_value(details).unwrap_or_default(),
        }
    }

    /// Further fields of `system/init`; `None` for other subtypes.
    pub fn init_details(&self) -> Option<InitDetails> {
        let SystemMessage::Init { extra, .. } = self else {
            return None;
        };
        let text = extra.to_string();
        InitDetails::read(&mut Cursor::new(&text), &mut Reading::default()).ok()
    }
}

/// Without the frame's `type`, a message is an object with a `subtype`.
impl Wire for SystemMessage {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let subtype = cursor.tag("subtype").ok_or_else(|| Misfit::missing("subtype"))?;
        SystemMessage::read_frame(cursor, &subtype.get(), reading)
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectOut::open(out);
        self.write_members(&mut object);
        object.close();
    }
}

object!(@through_wire SystemMessage);

fn read_init(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<SystemMessage, Misfit> {
    let init::InitFields { session_id, tools, mcp_servers, extra } = read_object(cursor, reading, TAKEN)?;
    // Read only to record what does not fit: the values stay in `extra`, as in rusty_claw.
    InitDetails::read_members(&mut extra.cursor(), reading, &[])?;
    Ok(SystemMessage::Init { session_id, tools, mcp_servers, extra: tree(&extra)? })
}
