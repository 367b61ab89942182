//! MCP servers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tidings_protocol::control::{McpServerConfig, SdkMcpManifest, SdkMcpServerConfig};
use tidings_protocol::json::{Json, Wire as _};

use super::{Options, Plan};
use crate::error::Error;
use crate::handlers::{Handlers, McpHandler, McpSource};

#[derive(Debug, Clone, Default)]
pub(super) struct McpOptions {
    servers: BTreeMap<String, McpServerConfig>,
    by_handshake: bool,
    files: Vec<PathBuf>,
    strict: bool,
    settings: BTreeMap<String, SdkMcpServerConfig>,
    manifests: BTreeMap<String, SdkMcpManifest>,
    #[cfg(feature = "mcp")]
    invalid: Option<Error>,
}

impl Options {
    /// Adds an MCP server that the CLI starts or connects to. Its configuration is passed as a file, since it
    /// often contains secrets.
    pub fn mcp_server(mut self, name: impl Into<String>, server: McpServerConfig) -> Self {
        self.mcp.servers.insert(name.into(), server);
        self
    }

    /// Sends the MCP servers in the handshake, instead of by a file. Connecting fails if the CLI does not
    /// take them.
    pub fn mcp_servers_by_handshake(mut self) -> Self {
        self.mcp.by_handshake = true;
        self
    }

    /// Adds a file with MCP servers.
    pub fn mcp_config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.mcp.files.push(path.into());
        self
    }

    /// Uses only these MCP servers and none from the settings.
    pub fn strict_mcp_config(mut self) -> Self {
        self.mcp.strict = true;
        self
    }

    /// Adds an MCP server in this process: `handler` receives the CLI's messages to it.
    pub fn mcp_handler(mut self, name: impl Into<String>, handler: impl McpHandler + 'static) -> Self {
        self.handlers.mcp.insert(name.into(), McpSource::Shared(Arc::new(handler)));
        self
    }

    /// Adds an MCP server in this process, with a new handler for each session that is started with these
    /// options.
    pub fn mcp_handler_per_session<H: McpHandler + 'static>(
        mut self,
        name: impl Into<String>,
        make: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self {
        let source = McpSource::PerSession(Arc::new(move || Arc::new(make())));
        self.handlers.mcp.insert(name.into(), source);
        self
    }

    /// Sets limits and policies of an MCP server in this process.
    pub fn mcp_handler_settings(mut self, name: impl Into<String>, settings: SdkMcpServerConfig) -> Self {
        self.mcp.settings.insert(name.into(), settings);
        self
    }

    /// Sets the replies of an MCP server in this process to the CLI's first requests, so that the CLI can
    /// skip them.
    pub fn mcp_handler_manifest(mut self, name: impl Into<String>, manifest: SdkMcpManifest) -> Self {
        self.mcp.manifests.insert(name.into(), manifest);
        self
    }

    /// Stores an error for [`Options::plan`] to return.
    #[cfg(feature = "mcp")]
    pub(crate) fn invalid_mcp(mut self, error: Error) -> Self {
        self.mcp.invalid.get_or_insert(error);
        self
    }
}

impl McpOptions {
    /// True if the handshake contains MCP servers.
    pub(super) fn in_handshake(&self) -> bool {
        self.by_handshake && !self.servers.is_empty()
    }

    pub(super) fn add(&self, plan: &mut Plan, handlers: &Handlers) -> Result<(), Error> {
        #[cfg(feature = "mcp")]
        if let Some(error) = &self.invalid {
            return Err(error.clone());
        }
        if let Some(name) = self.servers.keys().find(|name| handlers.mcp.contains_key(*name)) {
            let message = format!("Two MCP servers have the same name: `{name}`");
            return Err(Error::invalid(message, "rename one of them"));
        }
        let mut described = self.settings.keys().chain(self.manifests.keys());
        if let Some(name) = described.find(|name| !handlers.mcp.contains_key(*name)) {
            let message = format!("No MCP server in this process has this name: `{name}`");
            return Err(Error::invalid(message, "add it with `mcp_handler`"));
        }
        if self.in_handshake() {
            plan.await_initialize();
            plan.initialize.mcp_servers = Some(self.servers.clone());
        } else if !self.servers.is_empty() {
            plan.file("mcp-config", "mcp.json", config(&self.servers));
        }
        for path in &self.files {
            plan.path("mcp-config", path);
        }
        if self.strict {
            plan.flag("strict-mcp-config");
        }
        if !handlers.mcp.is_empty() {
            plan.initialize.sdk_mcp_servers = Some(handlers.mcp.keys().cloned().collect());
        }
        if !self.settings.is_empty() {
            plan.initialize.sdk_mcp_server_configs = Some(self.settings.clone());
        }
        if !self.manifests.is_empty() {
            plan.initialize.sdk_mcp_server_manifests = Some(self.manifests.clone());
        }
        Ok(())
    }
}

fn config(servers: &BTreeMap<String, McpServerConfig>) -> String {
    let mut text = "{\"mcpServers\":".to_owned();
    servers.write(&mut text);
    text.push('}');
    debug_assert!(Json::parse(&text).is_ok(), "what the protocol crate writes is JSON");
    text
}
