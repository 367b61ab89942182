//! The fleet: several servers that show each other's sessions.

use std::collections::BTreeMap;

use super::shapes;

shapes! {
    /// The fleet as one of its servers sees it.
    pub struct FleetStatus {
        /// Name of the fleet.
        pub fleet: String,
        /// Name of the server that answers.
        pub node: String,
        /// Addresses of the NATS servers.
        pub url: String,
        /// Prefix of the NATS server's API, if the server that answers has a NATS account of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub api_prefix: Option<String>,
        /// True if the NATS server is connected, and this server takes part in the fleet.
        pub is_connected: bool,
        /// Reason for which this server takes no part in the fleet: it was removed, or the NATS server has
        /// another fleet of the same name, or refuses its stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub problem: Option<String>,
        /// True if the storage of the fleet is full: events wait on their servers.
        pub storage_full: bool,
        /// True if events and requests are encrypted.
        pub encrypted: bool,
        /// True if this server can invite and remove others.
        pub may_invite: bool,
        /// Sessions of this server with events that are not published yet.
        pub sessions_behind: u64,
        /// Messages of other servers that are not read yet.
        pub messages_behind: u64,
        /// Events of other servers that their owners have announced and this server does not have.
        #[serde(default)]
        pub events_behind: u64,
        /// Sessions of other servers with such events.
        #[serde(default)]
        pub replicas_behind: u64,
        /// Generation of the fleet's key; each removal of a server adds one. Omitted without encryption.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub key_generation: Option<u64>,
        /// Events of this server that were published since it started.
        pub events_sent: u64,
        /// Events of other servers that were read since it started.
        pub events_taken: u64,
        /// Messages that were refused since it started: wrong signatures, unknown servers, copies.
        pub refused: u64,
        /// Messages that were read more than once since it started, after a connection was lost.
        #[serde(default)]
        pub redelivered: u64,
        /// The servers of the fleet, by name.
        pub nodes: Vec<FleetNode>,
        /// The projects of all sessions, by name.
        #[serde(default)]
        pub projects: Vec<FleetProject>,
    }

    /// A project with sessions on servers of the fleet.
    pub struct FleetProject {
        /// Its name, as `project` of its sessions.
        pub project: String,
        /// Folders that are copies of it.
        pub places: Vec<FleetPlace>,
    }

    /// A copy of a project on a server.
    pub struct FleetPlace {
        /// Name of the server.
        pub node: String,
        /// Folder on it.
        pub folder: String,
        /// Number of sessions there.
        pub sessions: u64,
    }

    /// A server of the fleet.
    pub struct FleetNode {
        /// Its name.
        pub name: String,
        /// True if it only serves sessions of others.
        pub is_hub: bool,
        /// Its purpose: `node`, `hub`, or a word of a later version.
        #[serde(default)]
        pub kind: String,
        /// True if it was heard of within the last five seconds.
        pub is_reachable: bool,
        /// Time at which it was last heard of, by the clock of the NATS server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_heard: Option<String>,
        /// Its public key.
        pub key: String,
        /// Rights of its admin token on other servers.
        pub scopes: Vec<String>,
        /// Version of its program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub version: Option<String>,
        /// Labels to choose it by.
        pub labels: BTreeMap<String, String>,
        /// Number of agents that run there.
        pub running: u64,
        /// True if it takes no new sessions.
        pub draining: bool,
        /// Events of its sessions that it has announced and the server that answers does not have.
        #[serde(default)]
        pub events_behind: u64,
        /// Sessions with such events.
        #[serde(default)]
        pub sessions_behind: u64,
        /// Sessions whose events differ from those that it has announced.
        #[serde(default)]
        pub sessions_differ: u64,
        /// Generation of its newest key of the fleet; omitted without encryption, and of an earlier version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub key_generation: Option<u64>,
        /// Its audit log, as the server that answers knows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub audit: Option<FleetAudit>,
    }

    /// The audit log of a server.
    pub struct FleetAudit {
        /// Number of lines.
        pub lines: u64,
        /// Problem of the log: lines that other servers have heard of are missing or were changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub problem: Option<String>,
    }

    /// Request for an invitation.
    #[derive(Default)]
    pub struct FleetInviteRequest {
        /// True for a server that only serves sessions of others.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub hub: bool,
        /// Rights of the new server's admin token on other servers; by default all but `admin`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub scopes: Option<Vec<String>>,
    }

    /// Invitation for one server.
    pub struct FleetInvite {
        /// Code for `tidings fleet join`; valid once, for 15 minutes.
        pub code: String,
    }

    /// The storage of the fleet.
    pub struct FleetStorage {
        /// Bytes that are used.
        pub bytes: u64,
        /// Bytes that may be used; omitted without a limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub bytes_max: Option<u64>,
    }

    /// Request for another limit of the storage.
    pub struct FleetStorageMax {
        /// Bytes that may be used.
        pub bytes_max: u64,
    }

    /// Request to continue a session of a lost server.
    #[derive(Default)]
    pub struct FleetContinue {
        /// Working folder on the server that continues it; by default the same path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cwd: Option<String>,
        /// Makes a git worktree for it, with a new branch of this name; an empty name chooses one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub worktree: Option<String>,
        /// First prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prompt: Option<String>,
        /// Idempotency key: a repeated request returns the same session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
        /// True to continue it without the events that this server does not have.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub force: bool,
    }

    /// Request to take no new sessions, or to take them again.
    pub struct FleetDrain {
        /// True to take none.
        pub draining: bool,
    }
}
