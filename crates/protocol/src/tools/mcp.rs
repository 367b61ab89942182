//! Tools for the resources and the tools of MCP servers.

use crate::json::object;

object! {
    /// Request for the resources of the MCP servers.
    pub struct ListMcpResourcesInput {
        /// The server; all of them when absent.
        opt server: String,
    }

    /// A resource of an MCP server.
    pub struct McpResourceEntry {
        opt uri: String,
        opt name: String,
        opt mime_type: String as "mimeType",
        opt description: String,
        /// The server; absent in a folder, which is listed for one server.
        opt server: String,
    }

    /// A resource of an MCP server to read, or its folder to list.
    pub struct ReadMcpResourceInput {
        req server: String,
        req uri: String,
    }

    /// A resource that was read.
    pub struct ReadMcpResourceOutput {
        opt contents: Vec<McpResourcePart>,
        /// Error message of the server.
        opt error: String,
    }

    /// A part of a resource.
    pub struct McpResourcePart {
        opt uri: String,
        opt mime_type: String as "mimeType",
        opt text: String,
        /// File with the contents, if they are not text.
        opt blob_saved_to: String as "blobSavedTo",
    }

    /// The resources in a folder of an MCP server.
    pub struct ReadMcpResourceDirOutput {
        opt resources: Vec<McpResourceEntry>,
        /// Error message of the server.
        opt error: String,
    }

    /// Request to get the tools of MCP servers again.
    pub struct RefreshMcpToolsInput {
        /// The server; all of them when absent.
        opt server: String,
    }

    /// The tools of an MCP server, compared with those before.
    pub struct RefreshedMcpServer {
        opt server: String,
        /// `refreshed`, `error` or `not_connected`.
        opt status: String,
        opt tool_count: u64 as "toolCount",
        opt added: Vec<String>,
        opt removed: Vec<String>,
        opt error: String,
    }
}

/// The resources of the MCP servers.
pub type ListMcpResourcesOutput = Vec<McpResourceEntry>;

/// A folder of an MCP server to list.
pub type ReadMcpResourceDirInput = ReadMcpResourceInput;

/// The servers whose tools were read again.
pub type RefreshMcpToolsOutput = Vec<RefreshedMcpServer>;
