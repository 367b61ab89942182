//! Trust in folders that contain commands.

use super::shapes;

shapes! {
    /// Commands and settings of a folder that affect the agent, and their approval.
    pub struct FolderTrust {
        /// The folder.
        pub folder: String,
        /// Digest of everything in `commands`: any other command changes it.
        pub digest: String,
        /// True if sessions in this folder may use all of it. A folder without commands is trusted.
        pub trusted: bool,
        /// The commands found.
        pub commands: Vec<FoundCommand>,
    }

    /// A setting in a folder that runs programs, or changes the servers that the agent connects to.
    pub struct FoundCommand {
        /// File, relative to the folder.
        pub file: String,
        /// Key in the file, such as `hooks.SessionStart[0]`.
        pub place: String,
        /// Value of the setting.
        pub text: String,
    }

    /// Approval of the commands of a folder.
    pub struct TrustRequest {
        /// The folder.
        pub folder: String,
        /// Digest of the commands as shown. Without one, the folder is no longer trusted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub digest: Option<String>,
    }
}
