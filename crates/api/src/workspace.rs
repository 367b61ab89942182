//! Files of the folder of a session, commits, and git worktrees.

use super::{closed_enums, shapes};

shapes! {
    /// One entry of a folder.
    pub struct FileItem {
        /// Its name.
        pub name: String,
        /// Its kind.
        pub kind: FileKind,
        /// Size of a file in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub bytes: Option<u64>,
        /// True if it has the name of a file or folder of credentials: opening it requires the scope `admin`;
        /// omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub sensitive: bool,
    }

    /// The entries of a folder of a session.
    pub struct FileList {
        /// Path below the folder of the session; empty for that folder itself.
        pub path: String,
        /// The entries: folders first, then by name.
        pub items: Vec<FileItem>,
        /// True if there are more.
        pub more: bool,
    }

    /// A file in the folder of a session.
    pub struct FileText {
        /// Path below the folder of the session.
        pub path: String,
        /// Size in bytes.
        pub bytes: u64,
        /// Contents; absent if the file is not text in UTF-8.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// True if `text` is only the beginning.
        pub cut: bool,
    }

    /// Stages changes for the next commit, or takes them back.
    pub struct StageRequest {
        /// Files or folders, by their path below the folder of the session.
        pub paths: Vec<String>,
        /// False to take them back.
        pub staged: bool,
    }

    /// Request to commit the staged changes.
    pub struct CommitRequest {
        /// Commit message.
        pub message: String,
    }

    /// A commit that was made.
    pub struct CommitMade {
        /// Id of the commit.
        pub commit: String,
        /// Number of files that it changed.
        pub files: u64,
    }

    /// The git worktree of a session.
    pub struct SessionWorktree {
        /// Folder of the project that it belongs to.
        pub project: String,
        /// Top folder of the worktree.
        pub folder: String,
        /// Branch that was made for it.
        pub branch: String,
        /// True if it was removed; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub removed: bool,
    }

    /// State of the git worktree of a session.
    pub struct SessionWorktreeState {
        /// The worktree.
        pub worktree: SessionWorktree,
        /// Number of files with uncommitted changes, untracked ones included.
        pub changes: u64,
        /// Number of commits of its branch that no other branch has.
        pub commits: u64,
    }

    /// Request to remove the git worktree of a session. Its branch stays.
    #[derive(Default)]
    pub struct RemoveWorktree {
        /// Removes it even if it has uncommitted changes, which are lost then.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub discard: bool,
    }
}

closed_enums! {
    /// Kind of an entry of a folder.
    pub enum FileKind {
        /// A folder.
        Folder,
        /// A file.
        File,
        /// A symbolic link, which is not followed.
        Link,
        /// A pipe, a socket or a device.
        Other,
    }
}
