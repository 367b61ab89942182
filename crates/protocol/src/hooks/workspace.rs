//! Events around folders, files and settings.

use crate::json::{object, open_string};

open_string! {
    /// Settings that have changed.
    pub struct ConfigSource {
        USER_SETTINGS = "user_settings",
        PROJECT_SETTINGS = "project_settings",
        LOCAL_SETTINGS = "local_settings",
        POLICY_SETTINGS = "policy_settings",
        SKILLS = "skills",
    }

    /// Scope of a memory file.
    pub struct MemoryType {
        PROJECT = "Project",
        USER = "User",
        LOCAL = "Local",
        MANAGED = "Managed",
    }

    /// Reason why a memory file was loaded.
    pub struct InstructionsLoadReason {
        SESSION_START = "session_start",
        NESTED_TRAVERSAL = "nested_traversal",
        PATH_GLOB_MATCH = "path_glob_match",
        INCLUDE = "include",
        COMPACT = "compact",
    }

    /// Kind of change of a watched file.
    pub struct FileChange {
        CHANGE = "change",
        ADD = "add",
        UNLINK = "unlink",
    }

    /// Origin of an added folder.
    pub struct DirectorySource {
        SLASH_COMMAND = "slash_command",
        REGISTER_REPO_ROOT = "register_repo_root",
    }
}

object! {
    /// A settings file has changed.
    pub struct ConfigChange {
        opt source: ConfigSource,
        opt file_path: String,
    }

    /// A worktree is requested. The hook creates it and returns its path.
    pub struct WorktreeCreate {
        req name: String,
    }

    /// A worktree is no longer needed.
    pub struct WorktreeRemove {
        req worktree_path: String,
    }

    /// A memory file was loaded.
    pub struct InstructionsLoaded {
        req file_path: String,
        opt memory_type: MemoryType,
        opt load_reason: InstructionsLoadReason,
        opt globs: Vec<String>,
        /// File that triggered loading this one when it was read.
        opt trigger_file_path: String,
        /// The file that includes this one.
        opt parent_file_path: String,
    }

    /// The working folder has changed.
    pub struct CwdChanged {
        opt old_cwd: String,
        req new_cwd: String,
    }

    /// A watched file has changed.
    pub struct FileChanged {
        req file_path: String,
        opt event: FileChange,
    }

    /// A folder was added to the session.
    pub struct DirectoryAdded {
        req directory: String,
        opt source: DirectorySource,
    }
}
