//! The tool for pages on claude.ai.

use crate::json::{Json, object};

/// Reply to a request about pages on claude.ai; boxed, since it is much larger than other outputs.
pub type ArtifactOutput = Box<ArtifactReply>;

/// A request about pages on claude.ai; boxed for the same reason.
pub type ArtifactInput = Box<ArtifactRequest>;

object! {
    /// A request about pages on claude.ai.
    pub struct ArtifactRequest {
        /// The request; `publish` when absent.
        opt action: String,
        opt file_path: String,
        opt file_paths: Vec<String>,
        opt favicon: String,
        opt icon: String,
        opt limit: u64,
        opt page_token: String,
        /// `mine`, `shared` or `all`.
        opt scope: String,
        opt title: String,
        opt description: String,
        opt label: String,
        opt url: String,
        /// Question about the page.
        opt prompt: String,
        /// True to replace a newer version.
        opt force: bool,
        opt pin: bool,
        opt out_dir: String,
        opt asset_id: String,
        opt after: String,
        opt capabilities: Json,
        opt contract: String,
    }

    /// Reply to a request about pages on claude.ai. Each request sets other fields.
    pub struct ArtifactReply {
        // A page that was published.
        opt url: String,
        opt path: String,
        opt artifact_id: String,
        opt title: String,
        opt version: String,
        opt capabilities: Json,
        opt stored: StoredArtifact,
        opt warnings: Vec<String>,
        opt publishes_remaining: u64 as "publishesRemaining",
        opt publishes_reset_at: u64 as "publishesResetAt",
        opt contract: String,
        opt updated: bool,
        opt owned: bool,
        opt icon: String,
        opt favicon_sent: bool as "faviconSent",
        opt icon_dropped: bool as "iconDropped",
        /// Readers of the page.
        opt audience: String,
        /// Readers through its folder: `others` or `unknown`.
        opt folder_audience: String,
        opt seq: u64,
        opt unchanged: bool,
        opt live_subscription: String as "liveSubscription",
        opt pinned: bool,
        // A listing.
        opt artifacts: Vec<ListedArtifact>,
        opt truncated: bool,
        opt total: u64,
        opt total_at_least: bool,
        opt next_page_token: String,
        opt pins_enabled: bool,
        opt scope: String,
        opt external_listed: bool,
        // A page that was read.
        opt read: ArtifactContents,
        opt artifact_read: ArtifactVersion as "artifactRead",
        // Watching a page.
        opt watch: ArtifactWatch,
        opt unwatch: ArtifactUnwatch,
        opt watches: Vec<ArtifactWatch>,
        opt filter_url: String,
        opt arms: Vec<ArtifactArm>,
        // Files of a page.
        opt written: ArtifactLink,
        opt asset_upload: ArtifactAsset,
        opt asset_uploads: ArtifactUploads,
        opt asset_list: ArtifactAssets,
        opt asset_read: ArtifactAsset,
        opt asset_delete: ArtifactAsset,
        // A pin in the sidebar.
        opt pin: ArtifactPin,
    }

    /// The version of a page, as it was stored.
    pub struct StoredArtifact {
        opt contract: String,
        opt preferred_contract: String as "preferredContract",
        opt capabilities: Json,
        opt carried: bool,
        opt read: String,
    }

    /// A page in a listing.
    pub struct ListedArtifact {
        opt title: String,
        opt url: String,
        opt favicon: String,
        opt updated_at: String as "updatedAt",
        /// `mine` or `shared`.
        opt rel: String,
        opt external: bool,
        /// `editor`, `commenter`, `reader` or `viewer`.
        opt role: String,
        opt outsiders_may_have_written: bool as "outsidersMayHaveWritten",
        opt pinned: bool,
    }

    /// The contents of a page.
    pub struct ArtifactContents {
        opt url: String,
        opt bytes: u64,
        /// HTTP status code.
        opt code: u64,
        opt code_text: String as "codeText",
        opt result: String,
        opt duration_ms: u64 as "durationMs",
        opt title: String,
    }

    /// The version of a page that was read.
    pub struct ArtifactVersion {
        opt slug: String,
        opt ver: String,
        opt seeded: bool,
    }

    /// A page whose changes wake the agent.
    pub struct ArtifactWatch {
        opt url: String,
        opt watching: bool,
        opt outcome: String,
        opt reason: String,
        opt durable_skip_reason: String,
        opt task_id: String,
        /// Its beginning: a number of milliseconds, or a text.
        opt since: Json,
        opt token_expires_at: u64,
        opt rail: String,
        opt trigger_id: String,
        opt durable_since: String,
        /// HTTP status code.
        opt status: u64,
        opt detail: String,
        opt note: String,
        opt events: Vec<String>,
        opt explicit: bool,
        opt connected: bool,
        opt connecting: bool,
        opt armed_via: String,
        opt restored: bool,
        opt stop_kind: String,
    }

    /// A page whose changes no longer wake the agent.
    pub struct ArtifactUnwatch {
        opt url: String,
        opt was_watching: bool,
    }

    /// A connection that is being made to watch a page.
    pub struct ArtifactArm {
        opt url: String,
        opt rail: String,
        opt state: String,
        opt reconnect: bool,
        opt failures: u64,
        opt max_failures: u64,
        opt next_in_s: f64,
        opt last_failure: String,
        opt reason: String,
        opt detail: String,
        opt server_message: String,
        opt at: u64,
    }

    /// The page that was written.
    pub struct ArtifactLink {
        opt url: String,
    }

    /// A file of a page, and the result of an action on it.
    pub struct ArtifactAsset {
        opt id: String,
        opt url: String,
        opt path: String,
        opt file_path: String,
        opt file_name: String,
        /// `uploaded`, `failed` or `not_attempted`.
        opt status: String,
        opt reason: String,
        opt message: String,
        opt size_bytes: u64,
        opt content_type: String,
        opt sha256: String,
        opt created_at: String,
        opt may_be_stored: bool,
        opt cowritten: bool,
        opt outside_writer: bool,
        opt public_read: bool,
        opt foreign: bool,
        opt deleted: bool,
    }

    /// Several files of a page.
    pub struct ArtifactUploads {
        opt url: String,
        opt results: Vec<ArtifactAsset>,
    }

    /// The files of a page.
    pub struct ArtifactAssets {
        opt url: String,
        opt assets: Vec<ArtifactAsset>,
        opt usage: ArtifactUsage,
        opt next: String,
        opt cowritten: bool,
        opt outside_writer: bool,
    }

    /// Number and size of the files of a page, and their limits.
    pub struct ArtifactUsage {
        opt files: u64,
        opt bytes: u64,
        opt max_files: u64,
        opt max_bytes: u64,
    }

    /// A pin in the sidebar.
    pub struct ArtifactPin {
        /// `pin` or `unpin`.
        opt action: String,
        opt url: String,
        opt pinned: bool,
        opt title: String,
    }
}
