//! Requests about permissions.

use tidings_protocol::control::{
    ListPermissionRules, PermissionRules, SetMcpPermissionModeOverride, SetPermissionMode,
};
use tidings_protocol::permissions::PermissionMode;

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Changes the permission mode. Returns the mode that is now in force, if the CLI reports it.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<Option<PermissionMode>, Error> {
        Ok(self.request(SetPermissionMode::new(mode)).await?.mode)
    }

    /// Changes the permission mode for the calls of one MCP server; `None` reverts the change. Returns a
    /// warning, if any.
    pub async fn set_mcp_permission_mode(
        &self,
        server: &str,
        mode: Option<PermissionMode>,
    ) -> Result<Option<String>, Error> {
        Ok(self.request(SetMcpPermissionModeOverride::new(server, mode)).await?.warning)
    }

    /// The permission rules in force.
    pub async fn permission_rules(&self) -> Result<Option<PermissionRules>, Error> {
        Ok(self.request(ListPermissionRules::default()).await?.state)
    }
}
