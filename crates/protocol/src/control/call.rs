//! The table of all requests.

use super::can_use_tool::CanUseTool;
use super::context_usage::{ContextUsage, GetContextUsage};
use super::elicitation::{Elicitation, ElicitationAnswer};
use super::files::{
    FileContents, FileSuggestions, FileSuggestionsReply, ReadFile, RegisterRepoRoot, RegisterRepoRootReply,
    RewindFiles, RewindFilesReply, SeedReadState,
};
use super::hook_callback::HookCallback;
use super::hooks_listing::{GetHooksListing, HooksListing};
use super::initialize::{GetServerInfo, Initialize, InitializeReply};
use super::mcp::{
    McpMessage, McpMessageReply, McpReadResource, McpReconnect, McpResource, McpSetServers,
    McpSetServersReply, McpStatus, McpStatusReply, McpToggle, SetMcpPermissionModeOverride,
    SetMcpPermissionModeOverrideReply,
};
use super::mcp_call::{McpCall, McpCallReply};
use super::models::{ListModels, ListModelsReply, SetMaxThinkingTokens, SetModel, SetModelReply};
use super::outcome::Ack;
use super::parts::{rest, string};
use super::permission_rules::{
    ListPermissionRules, ListPermissionRulesReply, SetPermissionMode, SetPermissionModeReply,
};
use super::reload::{
    ReloadOutputStyles, ReloadOutputStylesReply, ReloadPlugins, ReloadPluginsReply, ReloadSkills,
    ReloadSkillsReply,
};
use super::session::{
    BinaryVersion, CancelAsyncMessage, CancelAsyncMessageReply, GetBinaryVersion, Interrupt,
    InterruptReceipt, RenameSession, SetColor, SetHasSubscribers,
};
use super::settings::{ApplyFlagSettings, GetSettings, SettingsReply, UpdateSettings};
use super::tasks::{BackgroundTasks, BackgroundTasksReply, GetTaskOutput, StopTask, TaskOutput};
use super::usage::{GetSessionCost, GetUsage, SessionCost, Usage};
use super::user_dialog::{DialogAnswer, RequestUserDialog};
use crate::hooks::HookOutput;
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Cursor, Json, Misfit, Reading, Wire, object};
use crate::permissions::PermissionResult;

/// A request of the control protocol.
pub trait Request: Wire + Into<Call> {
    /// What `subtype` says on the wire.
    const SUBTYPE: &'static str;

    /// The body of the answer.
    type Reply: Wire;
}

/// A request that has no type here.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct UnknownCall {
    /// What the request is called.
    pub subtype: String,
    /// An object of all its members but the subtype.
    pub body: Json,
}

impl UnknownCall {
    /// A request by name. What is not an object is sent as an empty one.
    pub fn new(subtype: impl Into<String>, body: Json) -> Self {
        UnknownCall { subtype: subtype.into(), body }
    }
}

/// Declares [`Call`] from the table of requests.
macro_rules! calls {
    ($( $(#[$meta:meta])* $Name:ident($Holder:ty) = $subtype:literal => $Reply:ty, )+) => {
        /// What a control request asks for, told apart by `subtype`.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Call {
            $(
                $(#[$meta])*
                #[doc = concat!("`", $subtype, "`")]
                $Name($Holder),
            )+
            /// A request that has no type here.
            Unknown(UnknownCall),
        }

        impl Call {
            /// The subtypes that have a type here.
            pub const KNOWN: &'static [&'static str] = &[$($subtype),+];

            /// What `subtype` says on the wire.
            pub fn subtype(&self) -> &str {
                match self {
                    $( Call::$Name(_) => $subtype, )+
                    Call::Unknown(unknown) => &unknown.subtype,
                }
            }

            /// Reads the members of an object, all but `consumed`, as the request that `subtype` names.
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

// The large ones are boxed: a call is part of every message, and most messages are no calls.
calls! {
    // The CLI asks the host.
    /// May this tool run?
    CanUseTool(Box<CanUseTool>) = "can_use_tool" => PermissionResult,
    /// A hook of the host is due.
    HookCallback(HookCallback) = "hook_callback" => HookOutput,
    /// A message to or from an MCP server that lives in the host; either side may send it.
    McpMessage(McpMessage) = "mcp_message" => McpMessageReply,
    /// An MCP server asks the user something.
    Elicitation(Box<Elicitation>) = "elicitation" => ElicitationAnswer,
    /// The CLI asks the user something.
    RequestUserDialog(RequestUserDialog) = "request_user_dialog" => DialogAnswer,

    // The host asks the CLI.
    /// The handshake.
    Initialize(Box<Initialize>) = "initialize" => InitializeReply,
    /// The handshake's answer once more; the CLI itself does not know this request.
    GetServerInfo(GetServerInfo) = "get_server_info" => InitializeReply,
    /// Stop the turn.
    Interrupt(Interrupt) = "interrupt" => InterruptReceipt,
    /// Change the permission mode.
    SetPermissionMode(SetPermissionMode) = "set_permission_mode" => SetPermissionModeReply,
    /// Change how calls of one MCP server are permitted.
    SetMcpPermissionModeOverride(SetMcpPermissionModeOverride)
        = "set_mcp_permission_mode_override" => SetMcpPermissionModeOverrideReply,
    /// Change the model.
    SetModel(SetModel) = "set_model" => SetModelReply,
    /// Change how much the model may think.
    SetMaxThinkingTokens(SetMaxThinkingTokens) = "set_max_thinking_tokens" => Ack,
    /// Change settings of this process.
    ApplyFlagSettings(ApplyFlagSettings) = "apply_flag_settings" => Ack,
    /// Change a settings file.
    UpdateSettings(UpdateSettings) = "update_settings" => Ack,
    /// What is set, and where.
    GetSettings(GetSettings) = "get_settings" => SettingsReply,
    /// What fills the context window.
    GetContextUsage(GetContextUsage) = "get_context_usage" => ContextUsage,
    /// What the session cost, as text.
    GetSessionCost(GetSessionCost) = "get_session_cost" => SessionCost,
    /// What was used of the plan.
    GetUsage(GetUsage) = "get_usage" => Usage,
    /// The models that can be chosen.
    ListModels(ListModels) = "list_models" => ListModelsReply,
    /// Which CLI this is.
    GetBinaryVersion(GetBinaryVersion) = "get_binary_version" => BinaryVersion,
    /// How the MCP servers are.
    McpStatus(McpStatus) = "mcp_status" => McpStatusReply,
    /// Put other MCP servers in the place of those set before.
    McpSetServers(McpSetServers) = "mcp_set_servers" => McpSetServersReply,
    /// Connect to an MCP server again.
    McpReconnect(McpReconnect) = "mcp_reconnect" => Ack,
    /// Switch an MCP server on or off.
    McpToggle(McpToggle) = "mcp_toggle" => Ack,
    /// Read a resource of an MCP server.
    McpReadResource(McpReadResource) = "mcp_read_resource" => McpResource,
    /// Call a tool of an MCP server without the model.
    McpCall(Box<McpCall>) = "mcp_call" => McpCallReply,
    /// Take back what the agent did to files.
    RewindFiles(RewindFiles) = "rewind_files" => RewindFilesReply,
    /// Take back a message that waits its turn.
    CancelAsyncMessage(CancelAsyncMessage) = "cancel_async_message" => CancelAsyncMessageReply,
    /// Tell that a file was read already.
    SeedReadState(SeedReadState) = "seed_read_state" => Ack,
    /// Read a file as the agent sees it.
    ReadFile(ReadFile) = "read_file" => FileContents,
    /// Find files by a part of their name.
    FileSuggestions(FileSuggestions) = "file_suggestions" => FileSuggestionsReply,
    /// Add a repository to the session.
    RegisterRepoRoot(RegisterRepoRoot) = "register_repo_root" => RegisterRepoRootReply,
    /// Load plugins again.
    ReloadPlugins(ReloadPlugins) = "reload_plugins" => ReloadPluginsReply,
    /// Load skills again.
    ReloadSkills(ReloadSkills) = "reload_skills" => ReloadSkillsReply,
    /// Load output styles again.
    ReloadOutputStyles(ReloadOutputStyles) = "reload_output_styles" => ReloadOutputStylesReply,
    /// Stop a background task.
    StopTask(StopTask) = "stop_task" => Ack,
    /// Send running tools to the background.
    BackgroundTasks(BackgroundTasks) = "background_tasks" => BackgroundTasksReply,
    /// The end of a background task's output.
    GetTaskOutput(GetTaskOutput) = "get_task_output" => TaskOutput,
    /// The hooks that settings and plugins registered.
    GetHooksListing(GetHooksListing) = "get_hooks_listing" => HooksListing,
    /// The permission rules in force.
    ListPermissionRules(ListPermissionRules) = "list_permission_rules" => ListPermissionRulesReply,
    /// Give the session a title.
    RenameSession(RenameSession) = "rename_session" => Ack,
    /// Give the session a colour.
    SetColor(SetColor) = "set_color" => Ack,
    /// Tell whether anybody watches.
    SetHasSubscribers(SetHasSubscribers) = "set_has_subscribers" => Ack,
}

impl Call {
    /// Whether the request has a type here.
    pub fn is_known(&self) -> bool {
        !matches!(self, Call::Unknown(_))
    }
}

/// A call by itself is the payload of its frame: an object with a `subtype`.
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
