//! Settings of a server, merged from the command line, the environment and the file, in this order of
//! precedence.

use std::collections::BTreeMap;
use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use tidings_bridge::notify::Target;
use tidings_bridge::server::{Retention, TlsFiles};

use super::agents::{self, AgentEntry, InstalledAgent};
use super::demo::Demo;
use super::{Serve, file, variables};
use crate::commands::sessions::RootArgs;
use crate::error::CannotRun;

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

/// Settings of a server, merged and validated.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) listen: Option<SocketAddr>,
    pub(super) data: PathBuf,
    pub(super) claude_path: Option<PathBuf>,
    pub(super) allow_bypass: bool,
    pub(super) observe: Observed,
    pub(super) type_into: Vec<TypeInto>,
    pub(super) unix: Option<PathBuf>,
    pub(super) tls: Option<TlsFiles>,
    pub(super) base_path: String,
    pub(super) public_urls: Vec<String>,
    pub(super) insecure_listen: bool,
    pub(super) allow_folders: Vec<PathBuf>,
    pub(super) pass_env: Vec<String>,
    pub(super) live_max: Option<usize>,
    pub(super) park_after: Option<Duration>,
    pub(super) agent_lease: Duration,
    pub(super) ask_limit: Option<Duration>,
    pub(super) retention: Retention,
    pub(super) archive_bytes: u64,
    pub(super) fleet: FleetSettings,
    pub(super) agents: Vec<InstalledAgent>,
    pub(super) notify: Vec<Target>,
    pub(super) log: LogForm,
    pub(super) log_level: LogLevel,
    pub(super) demo: Option<Demo>,
    /// True if agents use the settings and commands of every folder: the user has opened it elsewhere.
    pub(super) trusts_folders: bool,
}

/// Settings of the connection to the fleet.
#[derive(Debug, Clone, Default)]
pub(super) struct FleetSettings {
    pub(super) url: Option<String>,
    pub(super) creds: Option<PathBuf>,
    pub(super) nkey: Option<PathBuf>,
    pub(super) ca: Option<PathBuf>,
    pub(super) labels: BTreeMap<String, String>,
}

impl Settings {
    /// Merges the settings of every source.
    pub(super) fn gather(args: &Serve) -> anyhow::Result<Self> {
        let file = match &args.config {
            Some(path) => file::read(path)?,
            None => file::read_default()?,
        };
        let demo = if args.demo { Some(Demo::new(args.script.clone())?) } else { None };
        Settings::decide(args.settings.clone().or(variables::layer(env::vars_os())?).or(file), demo)
    }

    pub(super) fn decide(layer: Layer, demo: Option<Demo>) -> anyhow::Result<Self> {
        let usage = |message: String, hint: &'static str| CannotRun { code: CannotRun::USAGE, message, hint };
        let listen = listen(layer.listen.as_deref())?;
        let tls = match (layer.tls_cert, layer.tls_key) {
            (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
            (None, None) => None,
            _ => {
                return Err(usage(
                    "TLS needs both a certificate and its key".into(),
                    "give --tls-cert and --tls-key",
                )
                .into());
            }
        };
        if layer.live_max == Some(0) {
            return Err(usage("No agent could run".into(), "set --live-max to at least 1").into());
        }
        let data = match (layer.data, &demo) {
            (Some(data), _) => data,
            (None, Some(demo)) => demo.folder.clone(),
            (None, None) => default_data()?,
        };
        Ok(Settings {
            listen,
            data: std::path::absolute(data)?,
            claude_path: layer.claude_path,
            allow_bypass: layer.allow_bypass.unwrap_or_default(),
            observe: layer.observe.unwrap_or_default(),
            type_into: layer.type_into.unwrap_or_default(),
            unix: layer.unix,
            tls,
            base_path: base_path(layer.base_path.as_deref().unwrap_or_default())?,
            public_urls: layer.public_urls.unwrap_or_default(),
            insecure_listen: layer.insecure_listen.unwrap_or_default(),
            allow_folders: layer.allow_folders.unwrap_or_default(),
            pass_env: layer.pass_env.unwrap_or_default(),
            live_max: layer.live_max,
            park_after: layer.park_after_s.map(Duration::from_secs),
            agent_lease: layer.agent_lease.map_or(AGENT_LEASE, Duration::from_secs),
            ask_limit: layer.ask_limit_s.map(Duration::from_secs),
            retention: Retention {
                age: layer.keep_days.map(|days| DAY * days.get()),
                events: layer.keep_events.map(NonZeroU64::get),
                bytes: layer.keep_mib.map(|mib| u64::from(mib.get()) << 20),
            },
            archive_bytes: u64::from(layer.archive_mib.unwrap_or(ARCHIVE_MIB)) << 20,
            fleet: FleetSettings {
                url: layer.fleet,
                creds: layer.fleet_creds,
                nkey: layer.fleet_nkey,
                ca: layer.fleet_ca,
                labels: labels(layer.fleet_labels.unwrap_or_default())?,
            },
            agents: agents::installed(&layer.agents.unwrap_or_default())?,
            notify: layer.notify.unwrap_or_default(),
            log: layer.log.unwrap_or_default(),
            log_level: layer.log_level.unwrap_or_default(),
            demo,
            trusts_folders: false,
        })
    }
}

/// Default time that agents run without a server: enough for an upgrade with a failed first attempt.
const AGENT_LEASE: Duration = tidings::host::LEASE;

/// Default size of the archive: years of sessions of one person.
const ARCHIVE_MIB: u32 = 4096;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Default port.
const PORT: u16 = 7717;

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
            fleet_labels: self.fleet_labels.or(other.fleet_labels),
            agents: self.agents.or(other.agents),
            notify: self.notify.or(other.notify),
            log: self.log.or(other.log),
            log_level: self.log_level.or(other.log_level),
        }
    }
}

/// Parses labels.
fn labels(texts: Vec<String>) -> Result<BTreeMap<String, String>, CannotRun> {
    let pair = |text: String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => {
            let message = format!("Not a label: `{text}`");
            Err(CannotRun { code: CannotRun::USAGE, message, hint: "give a label such as `gpu=yes`" })
        }
    };
    texts.into_iter().map(pair).collect()
}

/// Default data folder.
pub(super) fn default_data() -> Result<PathBuf, CannotRun> {
    RootArgs::data_folder().ok_or_else(|| CannotRun {
        code: CannotRun::USAGE,
        message: "No home folder to store data in".to_owned(),
        hint: "name a folder with --data",
    })
}

/// Parses the listen address; none for the socket only.
pub(super) fn listen(text: Option<&str>) -> Result<Option<SocketAddr>, CannotRun> {
    match text {
        None => Ok(Some(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)))),
        Some("none") => Ok(None),
        Some(text) => address(text).map(Some).ok_or_else(|| CannotRun {
            code: CannotRun::USAGE,
            message: format!("Not an address to listen on: `{text}`"),
            hint: "give an address such as `127.0.0.1:7717` or `[::1]:0`",
        }),
    }
}

fn address(text: &str) -> Option<SocketAddr> {
    let local = text
        .strip_prefix("localhost:")
        .and_then(|port| Some((Ipv4Addr::LOCALHOST, port.parse().ok()?).into()));
    local.or_else(|| text.parse().ok())
}

/// Normalizes a base path to a leading `/` without a trailing one; rejects characters that a URL would
/// escape.
fn base_path(text: &str) -> Result<String, CannotRun> {
    let inner = text.trim_matches('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if inner.is_empty() {
        return Ok(String::new());
    }
    if !inner.chars().all(plain) || inner.split('/').any(|part| matches!(part, "" | "." | ".." | "v1")) {
        let message = format!("Not a base path: `{text}`");
        return Err(CannotRun { code: CannotRun::USAGE, message, hint: "give a path such as `/tidings`" });
    }
    Ok(format!("/{inner}"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct SettingsFlags {
        #[command(flatten)]
        layer: Layer,
    }

    /// Merges the settings of three sources.
    fn decide(flags: &[&str], variables: &[(&str, &str)], file: &str) -> anyhow::Result<Settings> {
        let flags = SettingsFlags::try_parse_from(["serve"].iter().chain(flags))?.layer;
        let pairs = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let file: Layer = toml::from_str(file)?;
        Settings::decide(flags.or(variables::layer(pairs)?).or(file), None)
    }

    #[test]
    fn the_command_line_precedes_the_environment_which_precedes_the_file() {
        let file = "listen = \"127.0.0.1:3\"\nbase_path = \"/file\"\npublic_urls = [\"https://file.example\"]\nallow_bypass = true\nlog = \"json\"\ndata = \"/srv/file\"\n";
        let environment = [
            ("TIDINGS_LISTEN", "127.0.0.1:2"),
            ("TIDINGS_BASE_PATH", "/environment"),
            ("TIDINGS_DATA_DIR", "/srv/environment"),
        ];
        let all = decide(&["--listen", "127.0.0.1:1"], &environment, file).unwrap();
        assert_eq!(all.listen.unwrap().port(), 1, "the command line");
        assert_eq!(all.base_path, "/environment", "the environment");
        assert_eq!(all.data, Path::new("/srv/environment"), "the environment");
        assert_eq!(all.public_urls, ["https://file.example"], "the file");
        assert!(all.allow_bypass, "the file");
        assert_eq!(all.log, LogForm::Json, "the file");
        assert_eq!(all.log_level, LogLevel::Info, "the default");
        assert!(!all.insecure_listen, "the default");
        let none = decide(&["--data", "/srv/data"], &[], "").unwrap();
        assert_eq!(none.listen.unwrap().to_string(), "127.0.0.1:7717");
        assert_eq!(none.base_path, "");
    }

    #[test]
    fn help_states_the_actual_defaults() {
        let config = tidings_bridge::sessions::Config::default();
        let park_after = config.park_after.unwrap().as_secs();
        let command = <SettingsFlags as clap::CommandFactory>::command();
        let help = |flag: &str| {
            let argument = command.get_arguments().find(|argument| argument.get_long() == Some(flag));
            argument.and_then(clap::Arg::get_help).unwrap().to_string()
        };
        assert!(help("live-max").contains(&format!("[default: {}]", config.live_max)));
        assert!(help("park-after-s").contains(&format!("[default: {park_after}]")));
        assert!(help("listen").contains(&format!("[default: 127.0.0.1:{PORT}]")));
        assert!(help("agent-lease").contains(&format!("[default: {}]", AGENT_LEASE.as_secs())));
    }

    #[test]
    fn everything_is_kept_unless_a_bound_is_set() {
        let none = decide(&["--data", "/srv"], &[], "").unwrap().retention;
        assert_eq!(none, Retention::default());
        let all = decide(
            &["--data", "/srv", "--keep-days", "2"],
            &[("TIDINGS_KEEP_MIB", "3")],
            "keep_events = 4\n",
        );
        let all = all.unwrap().retention;
        assert_eq!((all.age, all.bytes, all.events), (Some(2 * DAY), Some(3 << 20), Some(4)));
    }

    #[test]
    fn invalid_settings_are_rejected() {
        /// The three sources.
        type Sources<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str);
        let wrong: &[Sources<'_>] = &[
            (&["--listen", "somewhere"], &[], ""),
            (&["--tls-cert", "a.pem"], &[], ""),
            (&["--base-path", "/a/../b"], &[], ""),
            (&["--base-path", "/a b"], &[], ""),
            (&[], &[("TIDINGS_LIVE_MAX", "many")], ""),
            (&["--live-max", "0"], &[], ""),
            (&["--keep-events", "0"], &[], ""),
            (&[], &[], "keep_days = 0"),
            (&[], &[("TIDINGS_ALLOW_BYPASS", "perhaps")], ""),
            (&[], &[], "listn = \"127.0.0.1:1\""),
            (&[], &[], "listen = 7717"),
        ];
        for (flags, variables, file) in wrong {
            let flags = [&["--data", "/srv"], *flags].concat();
            assert!(decide(&flags, variables, file).is_err(), "{flags:?} {variables:?} {file}");
        }
    }
}
