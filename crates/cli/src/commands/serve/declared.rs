//! The declaration of the settings of a server.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroU64};

use clap::error::Error;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, CommandFactory as _, FromArgMatches, Parser, ValueEnum};
use serde::Deserialize;
use tidings_bridge::notify::Target;
use tidings_commands::agents::AgentEntry;
use tidings_sessions::limits::{LIVE_MAX, PARK_AFTER};

use super::path::SettingPath;

/// The settings of a server, each declared once: a field is a flag of the command line, a variable of the
/// environment and a key of the file, with one help text, type and default.
///
/// The key is the name of the field, and [`Setting`](super::setting::Setting) derives the variable from it.
/// `make generate` writes the table in `docs/operating.md` and the example in `packaging/serve.toml`. A
/// server reads its settings once, when it starts.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DeclaredSettings {
    /// Listen on this address, or `none` for the socket only
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7717")]
    pub(super) listen: String,

    /// Store all data in this folder [default: tidings in `$XDG_DATA_HOME` or
    /// ~/.local/share]
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<SettingPath>,

    /// `claude` program to run [default: found automatically]
    #[arg(long, value_name = "PATH")]
    pub(super) claude_path: Option<SettingPath>,

    /// Let devices with the scope `admin` start sessions without permission requests (`bypassPermissions`)
    #[arg(long)]
    pub(super) allow_bypass: bool,

    /// Sessions that people start themselves, in terminals and editors: which to answer
    #[arg(long, value_name = "WHICH", value_enum, default_value_t)]
    pub(super) observe: Observed,

    /// Deliver prompts for such sessions through panes of tmux, as if you typed them, or as messages;
    /// sessions of `tidings claude` need no flag
    #[arg(long, value_name = "WHERE", value_delimiter = ',')]
    pub(super) type_into: Vec<TypeInto>,

    /// Listen on this Unix socket [default: server.sock in the data folder]
    #[arg(long, value_name = "PATH")]
    pub(super) unix: Option<SettingPath>,

    /// TLS certificate, as PEM; reloaded when it changes
    #[arg(long, value_name = "FILE")]
    pub(super) tls_cert: Option<SettingPath>,

    /// Private key of the certificate, as PEM
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: Option<SettingPath>,

    /// Path prefix that a proxy forwards, such as /tidings
    #[arg(long, value_name = "PATH")]
    pub(super) base_path: Option<String>,

    /// Public address of the server, such as `https://box.example`; can be given several times
    #[arg(long = "public-url", value_name = "URL")]
    pub(super) public_urls: Vec<String>,

    /// Listen beyond this machine without TLS; others on the network can read and change the traffic
    #[arg(long)]
    pub(super) insecure_listen: bool,

    /// Restrict sessions to this folder; can be given several times
    #[arg(long = "allow-folder", value_name = "DIR")]
    pub(super) allow_folders: Vec<SettingPath>,

    /// Pass this variable on to agents, such as `ANTHROPIC_API_KEY`, or all that begin so, such as `HTTPS_*`;
    /// can be given several times
    #[arg(long, value_name = "NAME")]
    pub(super) pass_env: Vec<String>,

    /// Maximum number of agents that run at the same time
    #[arg(long, value_name = "N", default_value_t = LIVE_MAX)]
    pub(super) live_max: usize,

    /// Stop an agent after this time without activity; the next prompt restarts it. An agent with
    /// background tasks is not stopped
    #[arg(long, value_name = "SECONDS", default_value_t = PARK_AFTER.as_secs())]
    pub(super) park_after_s: u64,

    /// Keep agents running for this time without a server, so that they survive its restart; 0 makes them
    /// child processes of the server that end with it
    #[arg(long, value_name = "SECONDS", default_value_t = tidings::host::LEASE.as_secs())]
    pub(super) agent_lease: u64,

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
    /// none
    #[arg(long, value_name = "MIB", default_value_t = ARCHIVE_MIB)]
    pub(super) archive_mib: u32,

    /// Address of the fleet's NATS server, if it differs from that of `tidings fleet init` or `join`
    #[arg(long, value_name = "URL")]
    pub(super) fleet: Option<String>,

    /// Credentials for the NATS server: a `.creds` file
    #[arg(long, value_name = "FILE")]
    pub(super) fleet_creds: Option<SettingPath>,

    /// File with the seed of an nkey for the NATS server
    #[arg(long, value_name = "FILE")]
    pub(super) fleet_nkey: Option<SettingPath>,

    /// Certificates to trust for TLS to the NATS server, as PEM
    #[arg(long, value_name = "FILE")]
    pub(super) fleet_ca: Option<SettingPath>,

    /// Prefix of the NATS server's API, such as `fleet`, if this server has a NATS account of its own;
    /// docs/scaling.md has the configuration for it
    #[arg(long, value_name = "PREFIX")]
    pub(super) fleet_api_prefix: Option<String>,

    /// Label of this server in its fleet, such as `gpu=yes`; can be given several times
    #[arg(long = "fleet-label", value_name = "NAME=VALUE")]
    pub(super) fleet_labels: Vec<String>,

    /// Agents other than Claude Code. Set in the file only.
    #[arg(skip)]
    #[serde(rename = "agent")]
    pub(super) agents: Vec<AgentEntry>,

    /// Targets of notifications when a session needs a person. Set in the file only, since the addresses may
    /// be secrets.
    #[arg(skip)]
    pub(super) notify: Vec<Target>,

    /// Format of the log on standard error
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub(super) log: LogForm,

    /// Log level
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    pub(super) log_level: LogLevel,
}

/// Default size of the archive: years of sessions of one person.
const ARCHIVE_MIB: u32 = 4096;

/// A command line of settings only, for what `clap` knows about them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(super) struct SettingsCommand {
    #[command(flatten)]
    settings: DeclaredSettings,
}

/// The defaults, as the declaration has them.
impl Default for DeclaredSettings {
    fn default() -> Self {
        SettingsCommand::parse_from([""; 0]).settings
    }
}

impl DeclaredSettings {
    /// Replaces what `given` has. The source with the highest precedence comes last.
    pub(super) fn replace(&mut self, given: &GivenFlags) -> Result<(), Error> {
        self.update_from_arg_matches(&given.0)
    }
}

/// The settings that a command line names. Those that it does not name have no default here, since another
/// source may have them.
#[derive(Debug, Clone)]
pub(super) struct GivenFlags(ArgMatches);

impl GivenFlags {
    /// Parses flags without a program in front.
    pub(super) fn parse(flags: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        GivenFlags::from_arg_matches(&SettingsCommand::command().try_get_matches_from(flags)?)
    }
}

impl FromArgMatches for GivenFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut given = matches.clone();
        let defaults: Vec<String> = matches
            .ids()
            .map(|id| id.as_str().to_owned())
            .filter(|id| matches.value_source(id) == Some(ValueSource::DefaultValue))
            .collect();
        for id in defaults {
            // It is there, or it would have no source.
            let _ = given.try_clear_id(&id);
        }
        Ok(GivenFlags(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = GivenFlags::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for GivenFlags {
    fn augment_args(command: Command) -> Command {
        DeclaredSettings::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        DeclaredSettings::augment_args_for_update(command)
    }
}

/// Format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LogForm {
    /// Text for people
    #[default]
    Text,
    /// JSON for programs; the messages of the start are JSON too
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
