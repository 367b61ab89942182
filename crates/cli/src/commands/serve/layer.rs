//! Settings of one source: the command line, the environment or the file.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use tidings_bridge::notify::Target;
use tidings_commands::agents::AgentEntry;

/// Settings of one source; unset values are taken from the next one.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Layer {
    /// Listen on this address, or `none` for the socket only [default: 127.0.0.1:7717]
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<String>,

    /// Store all data in this folder [default: tidings in the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,

    /// `claude` program to run [default: found automatically]
    #[arg(long, value_name = "PATH")]
    pub(super) claude_path: Option<PathBuf>,

    /// Let devices with the scope `admin` start sessions without permission requests (`bypassPermissions`)
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub(super) allow_bypass: Option<bool>,

    /// Sessions that people start themselves, in terminals and editors: which to answer [default: attended]
    #[arg(long, value_name = "WHICH")]
    pub(super) observe: Option<Observed>,

    /// Deliver prompts for such sessions through panes of tmux, as if you typed them, or as messages;
    /// sessions of `tidings claude` need no flag
    #[arg(long, value_name = "WHERE", value_delimiter = ',')]
    pub(super) type_into: Option<Vec<TypeInto>>,

    /// Listen on this Unix socket [default: server.sock in the data folder]
    #[arg(long, value_name = "PATH")]
    pub(super) unix: Option<PathBuf>,

    /// TLS certificate, as PEM; reloaded when it changes
    #[arg(long, value_name = "FILE")]
    pub(super) tls_cert: Option<PathBuf>,

    /// Private key of the certificate, as PEM
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: Option<PathBuf>,

    /// Path prefix that a proxy forwards, such as /tidings
    #[arg(long, value_name = "PATH")]
    pub(super) base_path: Option<String>,

    /// Public address of the server, such as `https://box.example`; can be given several times
    #[arg(long = "public-url", value_name = "URL")]
    pub(super) public_urls: Option<Vec<String>>,

    /// Listen beyond this machine without TLS; others on the network can read and change the traffic
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub(super) insecure_listen: Option<bool>,

    /// Restrict sessions to this folder; can be given several times
    #[arg(long = "allow-folder", value_name = "DIR")]
    pub(super) allow_folders: Option<Vec<PathBuf>>,

    /// Pass this variable on to agents, such as `ANTHROPIC_API_KEY` or `HTTPS_*`; can be given several times
    #[arg(long, value_name = "NAME")]
    pub(super) pass_env: Option<Vec<String>>,

    /// Maximum number of agents that run at the same time [default: 32]
    #[arg(long, value_name = "N")]
    pub(super) live_max: Option<usize>,

    /// Stop an agent after this time without activity; the next prompt restarts it [default: 1800]
    #[arg(long, value_name = "SECONDS")]
    pub(super) park_after_s: Option<u64>,

    /// Keep agents running for this time without a server, so that they survive its restart; 0 makes them
    /// child processes of the server that end with it [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub(super) agent_lease: Option<u64>,

    /// Deny requests that were not answered within this time [default: wait forever]
    #[arg(long, value_name = "SECONDS")]
    pub(super) ask_limit_s: Option<u64>,

    /// Delete events that are older than this [default: keep forever]
    #[arg(long, value_name = "DAYS")]
    pub(super) keep_days: Option<NonZeroU32>,

    /// Keep at most this number of events per session, the newest [default: all]
    #[arg(long, value_name = "N")]
    pub(super) keep_events: Option<NonZeroU64>,

    /// Keep at most this size of events per session, the newest, in mebibytes [default: all]
    #[arg(long, value_name = "MIB")]
    pub(super) keep_mib: Option<NonZeroU32>,

    /// Archive sessions on disk before Claude Code deletes them, up to this size in mebibytes; 0 archives
    /// none [default: 4096]
    #[arg(long, value_name = "MIB")]
    pub(super) archive_mib: Option<u32>,

    /// Address of the fleet's NATS server, if it differs from that of `tidings fleet init` or `join`
    #[arg(long, value_name = "URL")]
    pub(super) fleet: Option<String>,

    /// Credentials for the NATS server: a `.creds` file
    #[arg(long, value_name = "FILE")]
    pub(super) fleet_creds: Option<PathBuf>,

    /// File with the seed of an nkey for the NATS server
    #[arg(long, value_name = "FILE")]
    pub(super) fleet_nkey: Option<PathBuf>,

    /// Certificates to trust for TLS to the NATS server, as PEM
    #[arg(long, value_name = "FILE")]
    pub(super) fleet_ca: Option<PathBuf>,

    /// Prefix of the NATS server's API, such as `fleet`, if this server has a NATS account of its own;
    /// docs/scaling.md has the configuration for it
    #[arg(long, value_name = "PREFIX")]
    pub(super) fleet_api_prefix: Option<String>,

    /// Label of this server in its fleet, such as `gpu=yes`; can be given several times
    #[arg(long = "fleet-label", value_name = "NAME=VALUE")]
    pub(super) fleet_labels: Option<Vec<String>>,

    /// Agents other than Claude Code. Set in the file only.
    #[arg(skip)]
    #[serde(rename = "agent")]
    pub(super) agents: Option<Vec<AgentEntry>>,

    /// Targets of notifications when a session needs a person. Set in the file only, since the addresses may
    /// be secrets.
    #[arg(skip)]
    pub(super) notify: Option<Vec<Target>>,

    /// Format of the log on standard error [default: text]
    #[arg(long, value_name = "FORM")]
    pub(super) log: Option<LogForm>,

    /// Log level [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub(super) log_level: Option<LogLevel>,
}

impl Layer {
    /// Merges two sources; values of this one take precedence.
    pub(super) fn or(self, other: Layer) -> Layer {
        Layer {
            listen: self.listen.or(other.listen),
            data: self.data.or(other.data),
            claude_path: self.claude_path.or(other.claude_path),
            allow_bypass: self.allow_bypass.or(other.allow_bypass),
            observe: self.observe.or(other.observe),
            type_into: self.type_into.or(other.type_into),
            unix: self.unix.or(other.unix),
            tls_cert: self.tls_cert.or(other.tls_cert),
            tls_key: self.tls_key.or(other.tls_key),
            base_path: self.base_path.or(other.base_path),
            public_urls: self.public_urls.or(other.public_urls),
            insecure_listen: self.insecure_listen.or(other.insecure_listen),
            allow_folders: self.allow_folders.or(other.allow_folders),
            pass_env: self.pass_env.or(other.pass_env),
            live_max: self.live_max.or(other.live_max),
            park_after_s: self.park_after_s.or(other.park_after_s),
            agent_lease: self.agent_lease.or(other.agent_lease),
            ask_limit_s: self.ask_limit_s.or(other.ask_limit_s),
            keep_days: self.keep_days.or(other.keep_days),
            keep_events: self.keep_events.or(other.keep_events),
            keep_mib: self.keep_mib.or(other.keep_mib),
            archive_mib: self.archive_mib.or(other.archive_mib),
            fleet: self.fleet.or(other.fleet),
            fleet_creds: self.fleet_creds.or(other.fleet_creds),
            fleet_nkey: self.fleet_nkey.or(other.fleet_nkey),
            fleet_ca: self.fleet_ca.or(other.fleet_ca),
            fleet_api_prefix: self.fleet_api_prefix.or(other.fleet_api_prefix),
            fleet_labels: self.fleet_labels.or(other.fleet_labels),
            agents: self.agents.or(other.agents),
            notify: self.notify.or(other.notify),
            log: self.log.or(other.log),
            log_level: self.log_level.or(other.log_level),
        }
    }
}

/// Format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LogForm {
    /// Text for people
    #[default]
    Text,
    /// JSON for programs
    Json,
}

/// Log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

/// Sessions outside of the server that it shows and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Observed {
    /// Show none
    None,
    /// Show all, and hold the permission requests of those where a person is
    #[default]
    Attended,
    /// Show all, and hold the permission requests of unattended ones too: they wait for your answer
    All,
}

/// Terminals that the server may type into, beside those of `tidings claude`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TypeInto {
    /// The pane of tmux in which a `claude` runs
    Tmux,
    /// The messaging socket of `claude`; the model takes prompts for messages of another Claude session
    Messages,
}
