//! A named set of tools, as an MCP server.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tidings_protocol::control::{McpToolPolicy, SdkMcpManifest, SdkMcpServerConfig};
use tidings_protocol::json::Json;

use super::tool::{Tool, failure};
use crate::error::Error;

/// A named set of [tools](Tool). It is also an rmcp server, and can be served over any of its transports.
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolServer {
    name: String,
    version: String,
    instructions: Option<String>,
    tools: Vec<Tool>,
    settings: SdkMcpServerConfig,
}

impl ToolServer {
    /// A server without tools.
    pub fn new(name: impl Into<String>) -> Self {
        ToolServer {
            name: name.into(),
            version: "1.0.0".to_owned(),
            instructions: None,
            tools: Vec::new(),
            settings: SdkMcpServerConfig::default(),
        }
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets the reported version, instead of `1.0.0`.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets instructions for the model about the tools as a whole.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Loads the tools that were added so far from the start, rather than after a tool search.
    pub fn always_load(mut self) -> Self {
        self.tools = self.tools.into_iter().map(Tool::always_load).collect();
        self
    }

    /// Sets the CLI's timeout of one call; values below one second are ignored. Without it a call may take
    /// for ever.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.settings.timeout = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Sets the permission policy of one of the tools.
    pub fn policy(mut self, policy: McpToolPolicy) -> Self {
        self.settings.tools.get_or_insert_default().push(policy);
        self
    }

    /// The name, which is part of the tool names for the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn settings(&self) -> Option<SdkMcpServerConfig> {
        (self.settings != SdkMcpServerConfig::default()).then(|| self.settings.clone())
    }

    /// The server's manifest for the handshake, so that the CLI need not request it.
    pub(super) fn manifest(&self) -> Option<SdkMcpManifest> {
        let parse = |value: serde_json::Result<String>| Json::parse(&value.ok()?).ok();
        let info = self.get_info().with_protocol_version(ProtocolVersion::V_2025_11_25);
        let mut list = self.list();
        list.result_type = None;
        let mut manifest = SdkMcpManifest::default();
        manifest.initialize_result = parse(serde_json::to_string(&info))?;
        manifest.tools_list_result = Some(parse(serde_json::to_string(&list))?);
        Some(manifest)
    }

    /// Refuses names and arguments that cannot be used.
    pub(super) fn check(&self) -> Result<(), Error> {
        for (at, tool) in self.tools.iter().enumerate() {
            let name = tool.name();
            if let Some(misfit) = &tool.misfit {
                let message = format!("The arguments of the tool `{name}` are invalid: {misfit}");
                return Err(Error::invalid(message, "use a struct with named fields"));
            }
            if self.tools[..at].iter().any(|other| other.name() == name) {
                let message = format!("Two tools of `{}` have the same name: `{name}`", self.name);
                return Err(Error::invalid(message, "rename one of them"));
            }
            let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
            if name.is_empty() || !name.chars().all(fits) {
                let message = format!("Not a valid tool name: `{name}`");
                return Err(Error::invalid(message, "use letters, digits, `_` and `-`"));
            }
        }
        Ok(())
    }

    fn list(&self) -> ListToolsResult {
        ListToolsResult::with_all_items(self.tools.iter().map(|tool| tool.about.clone()).collect())
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.name.clone(), self.version.clone()));
        info.instructions.clone_from(&self.instructions);
        info
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(self.list())
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.tools.iter().find(|tool| tool.name() == name).map(|tool| tool.about.clone())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.tools.iter().find(|tool| tool.name() == call.name) {
            Some(tool) => tool.call(call.arguments.unwrap_or_default(), context).await,
            None => Ok(failure(format!("`{}` has no tool `{}`", self.name, call.name))),
        }
    }
}
