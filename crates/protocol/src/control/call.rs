//! Table of all requests.

use super::parts::{rest, string};
use super::{
    Ack, ApplyFlagSettings, BackgroundTasks, BackgroundTasksReply, BinaryVersion, CanUseTool,
    CancelAsyncMessage, CancelAsyncMessageReply, ContextUsage, DialogAnswer, Elicitation, ElicitationAnswer,
    FileContents, FileSuggestions, FileSuggestionsReply, GetBinaryVersion, GetContextUsage, GetHooksListing,
    GetServerInfo, GetSessionCost, GetSettings, GetTaskOutput, GetUsage, HookCallback, HooksListing,
    Initialize, InitializeReply, Interrupt, InterruptReceipt, ListModels, ListModelsReply,
    ListPermissionRules, ListPermissionRulesReply, McpCall, McpCallReply, McpMessage, McpMessageReply,
    McpReadResource, McpReconnect, McpResource, McpSetServers, McpSetServersReply, McpStatus, McpStatusReply,
    McpToggle, ReadFile, RegisterRepoRoot, RegisterRepoRootReply, ReloadOutputStyles,
    ReloadOutputStylesReply, ReloadPlugins, ReloadPluginsReply, ReloadSkills, ReloadSkillsReply,
    RenameSession, RequestUserDialog, RewindFiles, RewindFilesReply, SeedReadState, SessionCost, SetColor,
    SetHasSubscribers, SetMaxThinkingTokens, SetMcpPermissionModeOverride, SetMcpPermissionModeOverrideReply,
    SetModel, SetModelReply, SetPermissionMode, SetPermissionModeReply, SettingsReply, StopTask, TaskOutput,
    UpdateSettings, Usage,
};
use crate::hooks::HookOutput;
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Cursor, Json, Misfit, Reading, Wire, object};
use crate::permissions::PermissionResult;

/// A request of the control protocol.
pub trait Request: Wire + Into<Call> {
    /// The `subtype` on the wire.
    const SUBTYPE: &'static str;

    /// The body of the answer.
    type Reply: Wire;
}

/// A request without a type in this crate.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct UnknownCall {
    /// The `subtype` on the wire.
    pub subtype: String,
    /// Object of all members except the subtype.
    pub body: Json,
}

impl UnknownCall {
    /// A request by name. A body that is not an object is sent as an empty one.
    pub fn new(subtype: impl Into<String>, body: Json) -> Self {
        UnknownCall { subtype: subtype.into(), body }
    }
}

/// Declares [`Call`] from the table of requests.
macro_rules! calls {
    ($( $(#[$meta:meta])* $Name:ident($Holder:ty) = $subtype:literal => $Reply:ty, )+) => {
        /// Body of a control request, distinguished by `subtype`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Call {
            $(
                $(#[$meta])*
                #[doc = concat!("`", $subtype, "`")]
                $Name($Holder),
            )+
            /// A request without a type in this crate.
            Unknown(UnknownCall),
        }

        impl Call {
            /// Subtypes with a type in this crate.
            pub const KNOWN: &'static [&'static str] = &[$($subtype),+];

            /// The `subtype` on the wire.
            pub fn subtype(&self) -> &str {
                match self {
                    $( Call::$Name(_) => $subtype, )+
                    Call::Unknown(unknown) => &unknown.subtype,
                }
            }

            /// Reads the members of an object, except `consumed`, as the request that `subtype` names.
            pub(super) fn read_members(
                subtype: &str,
                cursor: &mut Cursor<'_>,
                reading: &mut Reading,
                consumed: &[&str],
            ) -> Result<Self, Misfit> {
                Ok(match subtype {
                    $( $subtype => Call::$Name(<$Name as WireObject>::read_members(cursor, reading, consumed)?.into()), )+
                    _ => Call::Unknown(UnknownCall::new(subtype, rest(cursor, consumed))),
                })
            }

            pub(super) fn write_members(&self, object: &mut ObjectOut<'_>) {
                object.string("subtype", self.subtype());
                match self {
                    $( Call::$Name(request) => request.write_members(object), )+
                    Call::Unknown(unknown) => {
                        for (key, value) in unknown.body.raw().members().filter(|(key, _)| *key != "subtype") {
                            object.key(&key.get()).push_str(value.as_str());
                        }
                    }
                }
            }
        }

        $(
            impl Request for $Name {
                const SUBTYPE: &'static str = $subtype;
                type Reply = $Reply;
            }

            impl From<$Name> for Call {
                fn from(request: $Name) -> Self {
                    Call::$Name(request.into())
                }
            }
        )+
    };
}

// Large variants are boxed: a call is part of every message, and most messages are not calls.
calls! {
    // Requests of the CLI to the host.
    /// Requests permission for a tool call.
    CanUseTool(Box<CanUseTool>) = "can_use_tool" => PermissionResult,
    /// Calls a hook of the host.
    HookCallback(HookCallback) = "hook_callback" => HookOutput,
    /// A message to or from an MCP server inside the host; either side may send it.
    McpMessage(McpMessage) = "mcp_message" => McpMessageReply,
    /// An MCP server asks the user for input.
    Elicitation(Box<Elicitation>) = "elicitation" => ElicitationAnswer,
    /// The CLI shows the user a dialog.
    RequestUserDialog(RequestUserDialog) = "request_user_dialog" => DialogAnswer,

    // Requests of the host to the CLI.
    /// The handshake.
    Initialize(Box<Initialize>) = "initialize" => InitializeReply,
    /// Repeats the reply of the handshake; the CLI does not support this request.
    GetServerInfo(GetServerInfo) = "get_server_info" => InitializeReply,
    /// Interrupts the turn.
    Interrupt(Interrupt) = "interrupt" => InterruptReceipt,
    /// Changes the permission mode.
    SetPermissionMode(SetPermissionMode) = "set_permission_mode" => SetPermissionModeReply,
    /// Changes the permission mode for one MCP server.
    SetMcpPermissionModeOverride(SetMcpPermissionModeOverride)
        = "set_mcp_permission_mode_override" => SetMcpPermissionModeOverrideReply,
    /// Changes the model.
    SetModel(SetModel) = "set_model" => SetModelReply,
    /// Changes the thinking budget of the model.
    SetMaxThinkingTokens(SetMaxThinkingTokens) = "set_max_thinking_tokens" => Ack,
    /// Changes settings of this process.
    ApplyFlagSettings(ApplyFlagSettings) = "apply_flag_settings" => Ack,
    /// Changes a settings file.
    UpdateSettings(UpdateSettings) = "update_settings" => Ack,
    /// Gets the settings and their sources.
    GetSettings(GetSettings) = "get_settings" => SettingsReply,
    /// Gets the usage of the context window.
    GetContextUsage(GetContextUsage) = "get_context_usage" => ContextUsage,
    /// Gets the cost of the session, as text.
    GetSessionCost(GetSessionCost) = "get_session_cost" => SessionCost,
    /// Gets the usage of the plan.
    GetUsage(GetUsage) = "get_usage" => Usage,
    /// Lists the selectable models.
    ListModels(ListModels) = "list_models" => ListModelsReply,
    /// Gets the version of the CLI.
    GetBinaryVersion(GetBinaryVersion) = "get_binary_version" => BinaryVersion,
    /// Gets the status of the MCP servers.
    McpStatus(McpStatus) = "mcp_status" => McpStatusReply,
    /// Replaces the MCP servers set before.
    McpSetServers(McpSetServers) = "mcp_set_servers" => McpSetServersReply,
    /// Reconnects to an MCP server.
    McpReconnect(McpReconnect) = "mcp_reconnect" => Ack,
    /// Enables or disables an MCP server.
    McpToggle(McpToggle) = "mcp_toggle" => Ack,
    /// Reads a resource of an MCP server.
    McpReadResource(McpReadResource) = "mcp_read_resource" => McpResource,
    /// Calls a tool of an MCP server without the model.
    McpCall(Box<McpCall>) = "mcp_call" => McpCallReply,
    /// Reverts the agent's changes to files.
    RewindFiles(RewindFiles) = "rewind_files" => RewindFilesReply,
    /// Cancels a queued message.
    CancelAsyncMessage(CancelAsyncMessage) = "cancel_async_message" => CancelAsyncMessageReply,
    /// Marks a file as already read.
    SeedReadState(SeedReadState) = "seed_read_state" => Ack,
    /// Reads a file with the agent's access.
    ReadFile(ReadFile) = "read_file" => FileContents,
    /// Finds files by a part of their name.
    FileSuggestions(FileSuggestions) = "file_suggestions" => FileSuggestionsReply,
    /// Adds a repository to the session.
    RegisterRepoRoot(RegisterRepoRoot) = "register_repo_root" => RegisterRepoRootReply,
    /// Reloads plugins.
    ReloadPlugins(ReloadPlugins) = "reload_plugins" => ReloadPluginsReply,
    /// Reloads skills.
    ReloadSkills(ReloadSkills) = "reload_skills" => ReloadSkillsReply,
    /// Reloads output styles.
    ReloadOutputStyles(ReloadOutputStyles) = "reload_output_styles" => ReloadOutputStylesReply,
    /// Stops a background task.
    StopTask(StopTask) = "stop_task" => Ack,
    /// Moves running tools to the background.
    BackgroundTasks(BackgroundTasks) = "background_tasks" => BackgroundTasksReply,
    /// Gets the end of a background task's output.
    GetTaskOutput(GetTaskOutput) = "get_task_output" => TaskOutput,
    /// Lists the hooks registered by settings and plugins.
    GetHooksListing(GetHooksListing) = "get_hooks_listing" => HooksListing,
    /// Lists the active permission rules.
    ListPermissionRules(ListPermissionRules) = "list_permission_rules" => ListPermissionRulesReply,
    /// Sets the title of the session.
    RenameSession(RenameSession) = "rename_session" => Ack,
    /// Sets the colour of the session.
    SetColor(SetColor) = "set_color" => Ack,
    /// Reports whether there are subscribers.
    SetHasSubscribers(SetHasSubscribers) = "set_has_subscribers" => Ack,
}

impl Call {
    /// True if the request has a type in this crate.
    pub fn is_known(&self) -> bool {
        !matches!(self, Call::Unknown(_))
    }
}

/// A call alone is the payload of its frame: an object with a `subtype`.
impl Wire for Call {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if cursor.peek() != b'{' {
            return Err(Misfit::here(cursor, "an object"));
        }
        let raw = cursor.raw();
        let subtype = string(raw, "subtype")?;
        let mut members = raw.cursor();
        members.enter_object();
        Call::read_members(&subtype, &mut members, reading, &["subtype"])
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectOut::open(out);
        self.write_members(&mut object);
        object.close();
    }
}

object!(@through_wire Call);
