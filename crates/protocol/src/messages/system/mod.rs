//! `system` frames: what the CLI says about itself, its tasks and its session.

mod frames;
mod init;

use serde_json::Value;

use super::result::tree;
use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Cursor, Misfit, Reading, Wire, object};
pub use frames::*;
pub use init::{InitDetails, McpServerInfo, PluginInfo, ToolInfo};

/// The keys that say which kind of frame this is.
const TAKEN: &[&str] = &["type", "subtype"];

/// One variant per subtype whose body is an object of its own.
macro_rules! system_messages {
    ($( $(#[$meta:meta])* $Variant:ident = $subtype:literal, )+) => {
        /// Lifecycle events of a session.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum SystemMessage {
            /// A turn begins: what the session is and has. Comes again with every turn.
            Init {
                /// The session.
                session_id: String,
                /// The tools the model may call.
                tools: Vec<ToolInfo>,
                /// The MCP servers.
                mcp_servers: Vec<McpServerInfo>,
                /// Every other key; see [`SystemMessage::init_details`].
                extra: Value,
            },
            /// Seed 000's bare mark that history was compacted. The real one is `Compacted`.
            CompactBoundary,
            /// History was compacted.
            Compacted(CompactBoundary),
            $( $(#[$meta])* $Variant($Variant), )+
        }

        impl SystemMessage {
            /// The subtypes that have a variant.
            pub const KNOWN: &'static [&'static str] = &["init", "compact_boundary", $($subtype),+];

            /// The wire's `subtype`.
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

            /// Writes everything but `type`.
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
    /// What the client is doing, or a new permission mode.
    Status = "status",
    /// An API call failed and will be tried again.
    ApiRetry = "api_retry",
    /// How a long control request goes.
    ControlRequestProgress = "control_request_progress",
    /// The model refused and another one takes over: withdraw the messages named.
    ModelRefusalFallback = "model_refusal_fallback",
    /// The model refused and nobody takes over.
    ModelRefusalNoFallback = "model_refusal_no_fallback",
    /// The model was overloaded and another one takes over.
    ModelFallback = "model_fallback",
    /// Text of a slash command that no model saw.
    LocalCommandOutput = "local_command_output",
    /// A hook began.
    HookStarted = "hook_started",
    /// A hook wrote something.
    HookProgress = "hook_progress",
    /// A hook ended.
    HookResponse = "hook_response",
    /// A plugin is being installed.
    PluginInstall = "plugin_install",
    /// A background command or a sub-agent began.
    TaskStarted = "task_started",
    /// How a task goes.
    TaskProgress = "task_progress",
    /// Something about a task changed; merge it.
    TaskUpdated = "task_updated",
    /// A task ended.
    TaskNotification = "task_notification",
    /// The whole set of background tasks, replacing the last.
    BackgroundTasksChanged = "background_tasks_changed",
    /// How long hidden reasoning is by now.
    ThinkingTokens = "thinking_tokens",
    /// Idle, running or waiting for a person.
    SessionStateChanged = "session_state_changed",
    /// A remote worker goes away.
    WorkerShuttingDown = "worker_shutting_down",
    /// The slash commands, replacing the last list.
    CommandsChanged = "commands_changed",
    /// A note to show.
    Notification = "notification",
    /// Files were stored.
    FilesPersisted = "files_persisted",
    /// Memories were recalled.
    MemoryRecall = "memory_recall",
    /// A question asked through a web page was answered.
    ElicitationComplete = "elicitation_complete",
    /// A tool was refused without asking.
    PermissionDenied = "permission_denied",
    /// An SDK could not mirror the transcript.
    MirrorError = "mirror_error",
    /// A banner.
    Informational = "informational",
    /// The disk was full and something was not written.
    SessionWritesLost = "session_writes_lost",
}

impl SystemMessage {
    /// What else `system/init` says; `None` for other subtypes.
    pub fn init_details(&self) -> Option<InitDetails> {
        let SystemMessage::Init { extra, .. } = self else {
            return None;
        };
        let text = extra.to_string();
        InitDetails::read(&mut Cursor::new(&text), &mut Reading::default()).ok()
    }
}

/// By itself, without the frame's `type`, a message is an object with a `subtype`.
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
    // Read only to notice what does not fit: the values stay in `extra`, where the page wants them.
    InitDetails::read_members(&mut extra.cursor(), reading, &[])?;
    Ok(SystemMessage::Init { session_id, tools, mcp_servers, extra: tree(&extra)? })
}
