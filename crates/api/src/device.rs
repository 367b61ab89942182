//! Devices, their credentials and pairing.

use super::{closed_enums, shapes};

shapes! {
    /// A device with a credential.
    pub struct Device {
        /// Id, used for revocation.
        pub id: String,
        /// Display name.
        pub name: String,
        /// Scopes: `read`, `prompt`, `decide`, `edit`, `always`, `admin`.
        pub scopes: Vec<String>,
        /// Folders that it is limited to; no limit if empty.
        #[serde(default)]
        pub folders: Vec<String>,
        /// Time of pairing.
        pub created: String,
        /// Time it was last seen, accurate to a few minutes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_seen: Option<String>,
        /// Expiry of its credential.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub expires: Option<String>,
    }

    /// The devices with credentials.
    pub struct DeviceList {
        /// All devices, oldest first.
        pub items: Vec<Device>,
    }

    /// Settings of a new device.
    #[derive(Default)]
    pub struct NewDevice {
        /// Display name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Scopes; defaults to `read`, `prompt` and `decide`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub scopes: Option<Vec<String>>,
        /// Folders that it is limited to; no limit if empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub folders: Vec<String>,
        /// Lifetime of its credential in seconds; unlimited by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub expires_in_s: Option<u64>,
    }

    /// Scopes that a device gets in addition to those that it has.
    pub struct GrantScopes {
        /// The scopes.
        pub scopes: Vec<String>,
    }

    /// A new device with its credential, which is shown only once.
    pub struct NewCredential {
        /// The device.
        pub device: Device,
        /// The credential, for `Authorization: Bearer`. A page receives it as a cookie instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub token: Option<String>,
    }

    /// A single-use code that pairs one device and expires soon.
    pub struct PairingCode {
        /// The code.
        pub code: String,
        /// Address to open on the device; the code is in the fragment, which browsers do not send to servers.
        pub link: String,
        /// Lifetime of the code in seconds.
        pub expires_in_s: u64,
    }

    /// Request of a device to be paired by a code.
    pub struct PairRequest {
        /// The code.
        pub code: String,
        /// Name proposed by the device; a name chosen together with the code takes precedence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Form of the credential; defaults to `cookie`, so programs send `token`.
        #[serde(default)]
        pub credential: CredentialKind,
    }
}

closed_enums! {
    /// Form in which a device receives its credential.
    #[derive(Default)]
    pub enum CredentialKind {
        /// As a cookie that scripts cannot read, for pages.
        #[default]
        Cookie,
        /// In the response, for programs.
        Token,
    }
}
