//! Devices: who may get in, and how they came in.

use super::{shapes, words};

shapes! {
    /// A device that has a credential.
    pub struct Device {
        /// Names it, to revoke it by.
        pub id: String,
        /// What people call it.
        pub name: String,
        /// What it may do: `read`, `prompt`, `decide`, `edit`, `always`, `admin`.
        pub scopes: Vec<String>,
        /// The folders that it is limited to; everywhere if there are none.
        #[serde(default)]
        pub folders: Vec<String>,
        /// When it came in.
        pub created: String,
        /// When it was last seen, to some minutes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_seen: Option<String>,
        /// When its credential ends by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub expires: Option<String>,
    }

    /// The devices that have credentials.
    pub struct DeviceList {
        /// All of them, the oldest first.
        pub items: Vec<Device>,
    }

    /// What a new device is called and may do.
    #[derive(Default)]
    pub struct NewDevice {
        /// What people call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// What it may do; `read`, `prompt` and `decide` where nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub scopes: Option<Vec<String>>,
        /// The folders that it is limited to; everywhere if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub folders: Vec<String>,
        /// After how many seconds its credential ends by itself; never where nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub expires_in_s: Option<u64>,
    }

    /// A new device with its credential, which is shown this once.
    pub struct NewCredential {
        /// The device.
        pub device: Device,
        /// The credential, for `Authorization: Bearer`. A page has it as a cookie instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub token: Option<String>,
    }

    /// A code that lets one device in, once and soon.
    pub struct PairingCode {
        /// The code.
        pub code: String,
        /// The address to open on the device; the code is behind the `#`, which no browser sends to a server.
        pub link: String,
        /// For how many seconds it is good.
        pub expires_in_s: u64,
    }

    /// A device that has a code asks to be let in.
    pub struct PairRequest {
        /// The code.
        pub code: String,
        /// What the device calls itself; whoever made the code may have chosen another name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// How it wants its credential; as a `cookie` where nothing is said, so programs say `token`.
        #[serde(default)]
        pub credential: CredentialKind,
    }
}

words! {
    /// How a device gets its credential.
    #[derive(Default)]
    pub enum CredentialKind {
        /// As a cookie that no script can read, for pages.
        #[default]
        Cookie,
        /// In the answer, for programs.
        Token,
    }
}
