//! Settings of a server, merged from the command line, the environment and the file, in this order of
//! precedence.

use std::collections::BTreeMap;
use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use tidings_bridge::server::{Retention, TlsFiles};
use tidings_commands::agents::{self, InstalledAgent};
use tidings_commands::error::CannotRun;
use tidings_commands::sessions::RootArgs;

use super::declared::DeclaredSettings;
use super::demo::Demo;
use super::{ServeArgs, file, variables};

/// Settings of a server, merged and validated.
#[derive(Debug)]
pub(super) struct Settings {
    /// The declared settings; the other fields follow from them.
    pub(super) given: DeclaredSettings,
    pub(super) listen: Option<SocketAddr>,
    pub(super) data: PathBuf,
    pub(super) tls: Option<TlsFiles>,
    pub(super) base_path: String,
    pub(super) retention: Retention,
    pub(super) agents: Vec<InstalledAgent>,
    pub(super) demo: Option<Demo>,
    /// True if agents use the settings and commands of every folder: the user has opened it elsewhere.
    pub(super) trusts_folders: bool,
}

impl Settings {
    /// Merges the settings of every source.
    pub(super) fn gather(args: &ServeArgs) -> anyhow::Result<Self> {
        let mut given = match &args.config {
            Some(path) => file::read(path)?,
            None => file::read_default()?,
        };
        let demo = if args.demo { Some(Demo::new(args.script.clone())?) } else { None };
        variables::replace(&mut given, env::vars_os())?;
        given.replace(&args.settings)?;
        Settings::decide(given, demo)
    }

    pub(super) fn decide(given: DeclaredSettings, demo: Option<Demo>) -> anyhow::Result<Self> {
        let usage = |message: String, hint: &'static str| CannotRun { code: CannotRun::USAGE, message, hint };
        let listen = listen(&given.listen)?;
        let tls = match (&given.tls_cert, &given.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(TlsFiles { certificate: certificate.to_path_buf(), key: key.to_path_buf() })
            }
            (None, None) => None,
            _ => {
                return Err(usage(
                    "TLS needs both a certificate and its key".into(),
                    "give --tls-cert and --tls-key",
                )
                .into());
            }
        };
        if given.live_max == 0 {
            return Err(usage("No agent could run".into(), "set --live-max to at least 1").into());
        }
        let data = match (&given.data, &demo) {
            (Some(data), _) => data.to_path_buf(),
            (None, Some(demo)) => demo.folder.clone(),
            (None, None) => default_data()?,
        };
        labels(&given.fleet_labels)?;
        Ok(Settings {
            listen,
            data: std::path::absolute(data)?,
            tls,
            base_path: base_path(given.base_path.as_deref().unwrap_or_default())?,
            retention: Retention {
                age: given.keep_days.map(|days| DAY * days.get()),
                events: given.keep_events.map(NonZeroU64::get),
                bytes: given.keep_mib.map(|mib| u64::from(mib.get()) << 20),
            },
            agents: agents::installed(&given.agents)?,
            demo,
            trusts_folders: false,
            given,
        })
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Parses labels.
pub(super) fn labels(texts: &[String]) -> Result<BTreeMap<String, String>, CannotRun> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => {
            let message = format!("Not a label: `{text}`");
            Err(CannotRun { code: CannotRun::USAGE, message, hint: "give a label such as `gpu=yes`" })
        }
    };
    texts.iter().map(pair).collect()
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
pub(super) fn listen(text: &str) -> Result<Option<SocketAddr>, CannotRun> {
    match text {
        "none" => Ok(None),
        text => address(text).map(Some).ok_or_else(|| CannotRun {
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

    use super::*;
    use crate::commands::serve::declared::{GivenFlags, LogForm, LogLevel};

    /// Merges the settings of three sources.
    fn decide(flags: &[&str], variables: &[(&str, &str)], file: &str) -> anyhow::Result<Settings> {
        let mut given: DeclaredSettings = toml::from_str(file)?;
        let pairs = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        variables::replace(&mut given, pairs)?;
        given.replace(&GivenFlags::parse(flags.iter().map(OsString::from))?)?;
        Settings::decide(given, None)
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
        assert_eq!(all.given.public_urls, ["https://file.example"], "the file");
        assert!(all.given.allow_bypass, "the file");
        assert_eq!(all.given.log, LogForm::Json, "the file");
        assert_eq!(all.given.log_level, LogLevel::Info, "the default");
        assert!(!all.given.insecure_listen, "the default");
        let none = decide(&["--data", "/srv/data"], &[], "").unwrap();
        assert_eq!(none.listen.unwrap().to_string(), "127.0.0.1:7717");
        assert_eq!(none.base_path, "");
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
            (&["--fleet-label", "gpu"], &[], ""),
            (&[], &[], "listn = \"127.0.0.1:1\""),
            (&[], &[], "listen = 7717"),
        ];
        for (flags, variables, file) in wrong {
            let flags = [&["--data", "/srv"], *flags].concat();
            assert!(decide(&flags, variables, file).is_err(), "{flags:?} {variables:?} {file}");
        }
    }
}
