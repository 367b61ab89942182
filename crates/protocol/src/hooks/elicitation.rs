//! Events around elicitations by MCP servers.

use crate::control::{ElicitationAction, ElicitationMode};
use crate::json::{Json, object};

object! {
    /// An MCP server asks the user for input.
    pub struct ElicitationRequested {
        req mcp_server_name: String,
        def message: String,
        opt mode: ElicitationMode,
        opt url: String,
        opt elicitation_id: String,
        /// JSON Schema of the answer.
        opt requested_schema: Json,
    }

    /// The user answered an MCP server.
    pub struct ElicitationResult {
        req mcp_server_name: String,
        opt elicitation_id: String,
        opt mode: ElicitationMode,
        opt action: ElicitationAction,
        opt content: Json,
    }
}
