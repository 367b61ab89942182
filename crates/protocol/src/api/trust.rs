//! Folders that bring commands of their own.

use super::shapes;

shapes! {
    /// What a folder would have the agent run or obey, and whether somebody has agreed to it.
    pub struct FolderTrust {
        /// The folder.
        pub folder: String,
        /// Stands for everything in `commands`: another command makes another digest.
        pub digest: String,
        /// Whether sessions in this folder may use all of it. A folder without commands is trusted.
        pub trusted: bool,
        /// What was found.
        pub commands: Vec<FoundCommand>,
    }

    /// Something in a folder that runs programs, or changes whom the agent talks to.
    pub struct FoundCommand {
        /// The file, from the folder.
        pub file: String,
        /// Where in the file, such as `hooks.SessionStart[0]`.
        pub place: String,
        /// What it says.
        pub text: String,
    }

    /// Somebody agrees to what a folder brings.
    pub struct TrustRequest {
        /// The folder.
        pub folder: String,
        /// The digest of what they were shown. Without one, the folder is not trusted any longer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub digest: Option<String>,
    }
}
