//! What is permitted.

use tidings_protocol::control::{
    ListPermissionRules, PermissionRules, SetMcpPermissionModeOverride, SetPermissionMode,
};
use tidings_protocol::permissions::PermissionMode;

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Changes how much the agent may do without asking. Gives back the mode that is now in force, if the CLI says so.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<Option<PermissionMode>, Error> {
        Ok(self.request(SetPermissionMode::new(mode)).await?.mode)
    }

    /// Changes how calls of one MCP server are permitted; nothing takes the change back. Gives back a warning.
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
