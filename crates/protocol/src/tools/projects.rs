//! Tools for projects on claude.ai and for Claude Design.

use super::macros::tagged;
use crate::json::{Json, object};

object! {
    /// An action of Claude Design.
    pub struct ClaudeDesignInput {
        /// Its name; `list` describes all of them.
        req operation: String,
        opt arguments: Json,
    }

    /// Result of an action of Claude Design.
    pub struct ClaudeDesignOutput {
        opt operation: String,
        /// Content blocks.
        opt content: Vec<Json>,
        opt is_error: bool as "isError",
    }

    /// A request about the project on claude.ai.
    pub struct ProjectsInput {
        /// The request, as in the output.
        req method: String,
        opt path: String,
        /// Text to write; or a file with it.
        opt content: String,
        opt local_path: String,
        /// True if the user should see the file.
        opt present_to_user: bool,
        opt query: String,
        /// Number of hits.
        opt n: u64,
    }
}

tagged! {
    /// Reply to a request about the project on claude.ai.
    pub enum ProjectsOutput by "method" {
        /// The project.
        Info(ProjectInfo) = "project_info",
        /// A file.
        Read(ProjectFile) = "project_read",
        /// Hits of a search.
        Search(ProjectHits) = "project_search",
        /// A file that was written.
        Written(ProjectWritten) = "project_write",
        /// A file that was removed.
        Deleted(ProjectDeleted) = "project_delete",
        /// The files of the memory.
        MemoryList(ProjectMemoryList) = "project_memory_list",
        /// A file of the memory.
        MemoryRead(ProjectFile) = "project_memory_read",
    }
}

object! {
    /// A project on claude.ai.
    pub struct ProjectInfo {
        opt notice: String,
        opt local_file: String,
        opt name: String,
        opt description: String,
        opt instructions: String,
        opt docs: Vec<ProjectEntry>,
        opt files: Vec<ProjectEntry>,
        opt sync_sources: Vec<ProjectSource>,
        opt knowledge: ProjectKnowledge,
    }

    /// A file of a project.
    pub struct ProjectEntry {
        opt path: String,
        opt file_kind: String,
        opt created_at: String,
        opt size_bytes: u64,
        opt updated_at: String,
        opt truncated: bool,
    }

    /// A source from which a project gets files.
    pub struct ProjectSource {
        opt kind: String as "type",
        opt config: Json,
    }

    /// Size of the files of a project, and its limit.
    pub struct ProjectKnowledge {
        opt knowledge_size: u64,
        opt max_knowledge_size: u64,
    }

    /// The contents of a file.
    pub struct ProjectFile {
        opt notice: String,
        opt path: String,
        opt file_kind: String,
        /// The text; or a local file with it.
        opt content: String,
        opt local_file: String,
        opt created_at: String,
        opt size_bytes: u64,
        opt updated_at: String,
        opt truncated: bool,
    }

    /// Result of a search.
    pub struct ProjectHits {
        opt notice: String,
        /// True if an index was searched; then there are hits, and files otherwise.
        opt rag: bool,
        opt hits: Vec<ProjectHit>,
        opt docs: Vec<String>,
    }

    /// A hit in a file.
    pub struct ProjectHit {
        opt name: String,
        opt doc_uuid: String,
        opt text: String,
        opt image_attached: bool,
        opt page: u64,
    }

    /// A file that was written.
    pub struct ProjectWritten {
        opt notice: String,
        opt path: String,
        opt doc_uuid: String,
        /// True if it existed before.
        opt replaced: bool,
        opt present_to_user: bool,
        opt local_path: String,
    }

    /// A file that was removed.
    pub struct ProjectDeleted {
        opt notice: String,
        opt path: String,
        opt deleted: bool,
    }

    /// The files of the memory.
    pub struct ProjectMemoryList {
        opt notice: String,
        opt files: Vec<ProjectEntry>,
        opt truncated: bool,
    }
}
