//! Trust in folders that contain commands, and policies of folders.

use super::{Policy, shapes};

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
        /// True if the folder does not exist any more; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub missing: bool,
    }

    /// Folders whose commands were approved, also if they have changed since or do not exist any more.
    pub struct TrustedFolderList {
        /// The folders, by name.
        pub items: Vec<FolderTrust>,
        /// True if there are more than these.
        pub more: bool,
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

    /// Defaults of new sessions in a folder and below it. Absent ones are those of the folder above, or of
    /// the CLI.
    #[derive(Default)]
    pub struct FolderDefaults {
        /// The folder.
        pub folder: String,
        /// Model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// Permission mode, in the CLI's spelling.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub permission_mode: Option<String>,
        /// Policy. It is the one of [`FolderPolicy`], which sessions that people start themselves have, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub policy: Option<Policy>,
    }

    /// Folders with defaults.
    pub struct FolderDefaultsList {
        /// The folders.
        pub items: Vec<FolderDefaults>,
    }

    /// The policy for the sessions that people start themselves in a folder.
    pub struct FolderPolicy {
        /// The folder.
        pub folder: String,
        /// Policy of sessions that begin in it or below it.
        pub policy: Policy,
    }

    /// Folders with a policy; in all others it is `ask`.
    pub struct FolderPolicyList {
        /// The folders.
        pub items: Vec<FolderPolicy>,
    }

    /// Change of the policy of a folder.
    pub struct SetFolderPolicy {
        /// The folder.
        pub folder: String,
        /// Policy from now on. Without one, the folder has none of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub policy: Option<Policy>,
    }
}
