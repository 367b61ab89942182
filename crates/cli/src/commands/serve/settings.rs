//! Settings of a server, merged from the command line, the environment and the file, in this order of
//! precedence.

use std::collections::BTreeMap;
use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use tidings_bridge::notify::Target;
use tidings_bridge::server::{Retention, TlsFiles};
use tidings_commands::agents::{self, InstalledAgent};
use tidings_commands::error::CannotRun;
use tidings_commands::sessions::RootArgs;

use super::demo::Demo;
use super::layer::{Layer, LogForm, LogLevel, Observed, TypeInto};
use super::{Serve, file, variables};

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
#[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "only a fleet uses them"))]
pub(super) struct FleetSettings {
    pub(super) url: Option<String>,
    pub(super) creds: Option<PathBuf>,
    pub(super) nkey: Option<PathBuf>,
    pub(super) ca: Option<PathBuf>,
    pub(super) api_prefix: Option<String>,
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
                api_prefix: layer.fleet_api_prefix,
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
        let config = tidings_sessions::Config::default();
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
