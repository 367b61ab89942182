//! Tools, MCP servers and plugins in `system/init`.

use serde_json::Value;

use crate::control::ServerStatus;
use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Cursor, Extra, Misfit, Reading, Wire, object};
use crate::messages::result::tree;
use crate::permissions::PermissionMode;

/// A tool of a session: a bare name on the real wire, an object with a schema in the `rusty_claw` wire
/// format.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ToolInfo {
    /// The tool's name.
    pub name: String,
    /// Description of the tool.
    pub description: Option<String>,
    /// JSON Schema of its input.
    pub input_schema: Option<Value>,
    /// Members that the typed fields would not write back identically.
    pub extra: Extra,
    /// True if the wire form is an object.
    object: bool,
}

impl ToolInfo {
    /// A tool by its name, as on the real wire.
    pub fn new(name: impl Into<String>) -> Self {
        ToolInfo { name: name.into(), ..ToolInfo::default() }
    }

    /// The same, written as an object, as in the `rusty_claw` wire format.
    #[must_use]
    pub fn into_object(mut self) -> Self {
        self.object = true;
        self
    }
}

impl Wire for ToolInfo {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if let Some(name) = cursor.text() {
            return Ok(ToolInfo::new(name.get()));
        }
        let ToolObject { name, description, input_schema, extra } = read_object(cursor, reading, &[])?;
        Ok(ToolInfo { name, description, input_schema, extra, object: true })
    }

    fn write(&self, out: &mut String) {
        if self.object || self.description.is_some() || self.input_schema.is_some() {
            let ToolInfo { name, description, input_schema, extra, .. } = self.clone();
            ToolObject { name, description, input_schema, extra }.write(out);
        } else {
            self.name.write(out);
        }
    }
}

object!(@through_wire ToolInfo);

/// An MCP server of a session.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct McpServerInfo {
    /// The server's name.
    pub name: String,
    /// Every other key; see [`McpServerInfo::details`].
    pub extra: Value,
}

impl McpServerInfo {
    /// Further fields, which only the real wire has.
    pub fn details(&self) -> McpServerDetails {
        let text = self.extra.to_string();
        McpServerDetails::read(&mut Cursor::new(&text), &mut Reading::default()).unwrap_or_default()
    }
}

impl WireObject for McpServerInfo {
    fn read_members(
        cursor: &mut Cursor<'_>,
        reading: &mut Reading,
        consumed: &[&str],
    ) -> Result<Self, Misfit> {
        let Named { name, extra } = Named::read_members(cursor, reading, consumed)?;
        // Read only to record what does not fit: the values stay in `extra`, as in rusty_claw.
        McpServerDetails::read_members(&mut extra.cursor(), reading, &[])?;
        Ok(McpServerInfo { name, extra: tree(&extra)? })
    }

    fn write_members(&self, out: &mut ObjectOut<'_>) {
        out.field("name", &self.name);
        out.value_members(&self.extra, |key| key == "name");
    }
}

object!(@serde McpServerInfo);

object! {
    struct ToolObject { req name: String, opt description: String, opt input_schema: Value }
    struct Named { req name: String }

    /// Fields of `system/init` in the `rusty_claw` wire format, as on the wire.
    pub(super) struct InitFields {
        req session_id: String,
        req tools: Vec<ToolInfo>,
        req mcp_servers: Vec<McpServerInfo>,
    }

    /// Further fields of `system/init`; read from the frame's `extra` on demand.
    pub struct InitDetails {
        opt api_key_source: String as "apiKeySource",
        opt claude_code_version: String,
        opt cwd: String,
        opt model: String,
        opt output_style: String,
        opt permission_mode: PermissionMode as "permissionMode",
        opt slash_commands: Vec<String>,
        opt terminal_slash_commands: Vec<String>,
        opt skills: Vec<String>,
        opt agents: Vec<String>,
        opt betas: Vec<String>,
        opt plugins: Vec<PluginInfo>,
        opt plugin_errors: Vec<PluginError>,
        opt fast_mode_state: String,
        opt fast_mode_disabled_reason: String,
        opt effort: String,
        opt view_mode: String,
        opt capabilities: Vec<String>,
        opt uuid: String,
    }

    /// Further fields of an MCP server in `system/init`; read from its `extra` on demand.
    pub struct McpServerDetails {
        opt status: ServerStatus,
        /// Origin of the server's definition.
        opt source: String,
    }

    /// A plugin of a session.
    pub struct PluginInfo {
        req name: String,
        opt path: String,
        opt version: String,
    }

    /// A plugin that could not be loaded, or a part of one.
    pub struct PluginError {
        /// `name@marketplace`, or a tag such as `inline[0]` for a folder without a name.
        req plugin: String,
        /// Kind of error, such as `path-not-found`. The CLI adds kinds: treat an unknown one as a general
        /// failure.
        opt kind: String as "type",
        /// Text for the user.
        opt message: String,
        /// Folder or archive of the plugin, if it did not load at all.
        opt path: String,
        opt managed_lock: PluginLock,
    }

    /// Entry of managed settings that keeps a plugin from loading.
    pub struct PluginLock {
        /// Value of the entry: true if it enables the plugin of this name, and this copy is another one.
        opt plugin_enabled: bool,
        req name: String,
        opt marketplace: String,
    }
}
