//! Construction of the server's parts from its settings.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use tidings_agent::Clock;
use tidings_bridge::api::Transcripts;
use tidings_bridge::notify::{Notifier, PushKeys};
use tidings_bridge::server::{Listen, TlsFiles};
use tidings_bridge::{Auth, auth};
use tidings_commands::agents::InstalledAgent;
use tidings_commands::error::CannotRun;
use tidings_commands::sessions::RootArgs;
use tidings_journal::broadcast::Broadcast;
use tidings_journal::{
    Epoch, ErrorKind, JOURNAL_FILE, Journal, JournalError, MemoryJournal, Opening, SqliteJournal,
};
use tidings_remote::local::{BASE_PATH_NOTE, SOCKET, SOCKET_NOTE};
use tidings_sessions::archive::Archive;
#[cfg(unix)]
use tidings_sessions::hosts::Hosts;
use tidings_sessions::{AgentProgram, Config, Observe, Real, Runner, Sessions};
use uuid::Uuid;

use super::declared::{Observed, TypeInto};
use super::demo::Demo;
use super::settings::Settings;
use crate::commands::remote::IGNORED_FOLDERS;

/// Upper bound of a socket path's length on Linux, including the terminating zero.
const SOCKET_PATH_MAX: usize = 108;

pub(super) fn listen(settings: &Settings) -> Listen {
    let usual = settings.data.join(SOCKET);
    let fits = usual.as_os_str().len() < SOCKET_PATH_MAX;
    if !fits {
        tracing::warn!(path = %usual.display(), "the path is too long for a socket; name a shorter one with --unix, or commands need --server");
    }
    let unix = settings
        .given
        .unix
        .clone()
        .map(PathBuf::from)
        .or_else(|| fits.then_some(usual))
        .filter(|_| cfg!(unix));
    Listen { address: settings.listen, tls: settings.tls.clone(), exposure: settings.exposure(), unix }
}

/// Checks the TLS files early, for errors that name the flag.
pub(super) fn check_tls(files: &TlsFiles) -> Result<(), CannotRun> {
    let refused =
        |message: String, hint: &'static str| Err(CannotRun { code: CannotRun::USAGE, message, hint });
    for (flag, path) in [("--tls-cert", &files.certificate), ("--tls-key", &files.key)] {
        if let Err(error) = fs_err::File::open(path) {
            return refused(
                format!("Failed to read the file of {flag}: {error}"),
                "check the path and its permissions; both files are PEM",
            );
        }
    }
    let text = fs_err::read(&files.certificate).unwrap_or_default();
    if !text.windows(CERTIFICATE.len()).any(|part| part == CERTIFICATE) {
        return refused(
            format!("No certificate in `{}`", files.certificate.display()),
            "give --tls-cert a PEM file that contains `-----BEGIN CERTIFICATE-----`, and --tls-key the key",
        );
    }
    Ok(())
}

/// First line of a certificate in a PEM file.
const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// Refuses a demo on the data folder of a server: the demo would let the devices of that server in, and its
/// audit log, which is not stored, would look forged beside the key of the other one.
pub(super) fn check_demo_folder(data: &Path) -> Result<(), CannotRun> {
    let files = [JOURNAL_FILE.to_owned(), format!("{JOURNAL_FILE}-audit-key")];
    let Some(file) = files.iter().find(|name| data.join(name).symlink_metadata().is_ok()) else {
        return Ok(());
    };
    let message = format!("`{}` is the data folder of a server: it has `{file}`", data.display());
    let hint = "leave --data out, or name another folder; a demo stores no sessions";
    Err(CannotRun { code: "conflict", message, hint })
}

/// Choice of the journal that a server starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JournalChoice {
    /// The existing one; only the first start creates one.
    Existing,
    /// A new one if the existing one is missing.
    NewIfMissing,
    /// One that ends with this process.
    InMemory,
}

fn open_journal(
    settings: &Settings,
    opening: &Opening,
    choice: JournalChoice,
) -> Result<SqliteJournal, JournalError> {
    let path = settings.data.join(JOURNAL_FILE);
    match SqliteJournal::open(&path, opening) {
        Err(error) if error.kind() == ErrorKind::Missing && choice == JournalChoice::NewIfMissing => {
            let aside = SqliteJournal::put_aside(&path)?;
            let aside = aside.map(|aside| aside.display().to_string()).unwrap_or_default();
            tracing::warn!(aside, "creating an empty journal: {error}");
            SqliteJournal::open(path, opening)
        }
        opened => opened,
    }
}

pub(super) async fn sessions(
    settings: &Settings,
    auth: &Auth,
    choice: JournalChoice,
) -> anyhow::Result<Sessions> {
    let opening = Opening { boot_id: boot_id(), fresh_epoch: Epoch::from_random(random()) };
    let journal: Arc<dyn Journal> = if settings.demo.is_some() || choice == JournalChoice::InMemory {
        Arc::new(MemoryJournal::new(&opening))
    } else {
        Arc::new(open_journal(settings, &opening, choice)?)
    };
    let mut config = config(settings, auth)?;
    config.runner = runner(settings, choice);
    Ok(Sessions::open(Broadcast::new(journal), config).await?)
}

/// The command that runs the sessions. Those of an editor end with their process, and have no address.
fn runner(settings: &Settings, choice: JournalChoice) -> Runner {
    match choice {
        JournalChoice::InMemory => Runner { command: "tidings acp".to_owned(), data: None },
        _ => Runner { data: std::path::absolute(&settings.data).ok(), ..Runner::default() },
    }
}

fn config(settings: &Settings, auth: &Auth) -> anyhow::Result<Config> {
    let mut config = Config::default();
    let given = &settings.given;
    config.environment = auth::environment(env::vars_os(), &given.pass_env);
    config.agents = settings.agents.iter().map(agent_program).collect::<Result<_, _>>()?;
    config.roots = given.allow_folders.iter().map(|folder| folder.to_path_buf()).collect();
    config.protected = vec![settings.data.clone()];
    config.trust = (!settings.trusts_folders).then(|| auth.trust().clone());
    config.policies = Some(auth.policies().clone());
    config.allow_bypass = given.allow_bypass;
    if given.observe != Observed::None {
        let mut observe = Observe::default();
        observe.ignored_folders = Some(settings.data.join(IGNORED_FOLDERS));
        observe.hold_unattended = given.observe == Observed::All;
        observe.data = Some(settings.data.clone());
        observe.type_into_tmux = given.type_into.contains(&TypeInto::Tmux);
        observe.send_messages = given.type_into.contains(&TypeInto::Messages);
        config.observe = Some(observe);
    }
    config.live_max = given.live_max;
    config.park_after = Some(Duration::from_secs(given.park_after_s));
    config.ask_limit = given.ask_limit_s.map(Duration::from_secs);
    if let Some(demo) = &settings.demo {
        config.demo = true;
        config.claude = Some(demo.program.clone());
        config.claude_args = demo.arguments();
        let config_dir = RootArgs::config_folder_of_user();
        config.beside_demo = claude(settings).map(|claude| Real { claude, config_dir });
    } else {
        config.claude = claude(settings);
        #[cfg(unix)]
        {
            config.hosts = Some(hosts(settings, &config)?);
        }
    }
    config.config_dir = Some(config_dir(settings));
    Ok(config)
}

/// Finds `claude` as an absolute path, so that no program in a project's folder is run instead (F124).
fn claude(settings: &Settings) -> Option<PathBuf> {
    let mut search = tidings::find::Search::from_environment();
    let given = settings.given.claude_path.clone().map(PathBuf::from);
    search.program = given.clone().or(search.program);
    search.find().ok().or(given)
}

/// A warning if the Claude Code of this server is older than the versions that it can use.
pub(super) async fn too_old(settings: &Settings) -> Option<String> {
    let error = tidings::find::supported(&claude(settings)?).await.err()?;
    let is_it = error.kind() == tidings::ErrorKind::VersionTooOld;
    is_it.then(|| format!("{error}, so sessions cannot start: {}", error.hint()))
}

/// Opens the agent hosts, which keep agents across server restarts. A demo has none.
#[cfg(unix)]
fn hosts(settings: &Settings, config: &Config) -> anyhow::Result<Hosts> {
    let (folder, program) = (settings.data.join("hosts"), env::current_exe()?);
    let lease = Duration::from_secs(settings.given.agent_lease);
    let mut args = vec!["host".into()];
    if let Some(before) = raise_open_files(lease) {
        args.extend(["--open-files".into(), before.to_string().into()]);
    }
    Ok(Hosts::open(folder, program, args, lease, config.clock.clone(), config.ids.clone())?)
}

/// Raises the limit of open files, since each subscriber needs one. Returns the limit before, which hosts
/// restore before they start an agent. Without hosts, agents would inherit the new limit, so it is not
/// raised.
#[cfg(unix)]
fn raise_open_files(lease: Duration) -> Option<u64> {
    if lease.is_zero() {
        return None;
    }
    tidings_bridge::server::raise_open_files().unwrap_or_else(|error| {
        tracing::warn!(%error, "failed to raise the limit of open files, which bounds the number of subscribers");
        None
    })
}

/// Folder in which Claude Code, or its stand-in, stores its sessions.
fn config_dir(settings: &Settings) -> PathBuf {
    settings.demo.as_ref().map_or_else(RootArgs::config_folder_of_user, Demo::config_dir)
}

/// The user's sessions on disk, read-only; a demo shows them too.
pub(super) fn transcripts() -> Transcripts {
    let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
    Transcripts::new(vec![RootArgs::config_folder_of_user()], RootArgs::cache_folder(), Clock::system(), zone)
}

/// Archive of the user's sessions on disk, in the folder of `tidings sessions archive`. A demo has none.
pub(super) fn archive(settings: &Settings) -> Option<Archive> {
    let is_on = settings.demo.is_none() && settings.given.archive_mib > 0;
    is_on.then(|| Archive {
        folder: settings.data.join("archive"),
        config_dir: RootArgs::config_folder_of_user(),
        bytes_max: u64::from(settings.given.archive_mib) << 20,
    })
}

/// Creates the notifier, which reports sessions that need a person.
pub(super) fn notifier(
    settings: &Settings,
    address: Option<&str>,
    push_on_loopback: bool,
) -> anyhow::Result<Notifier> {
    let page = address.map(|address| format!("{address}{}/", settings.base_path));
    let notifier = Notifier::new(settings.given.notify.clone(), page)?;
    let keys = PushKeys::open(&settings.data)?;
    Ok(if push_on_loopback { notifier.web_push_on_loopback(keys)? } else { notifier.web_push(keys)? })
}

/// Records the socket and the base path for commands on this machine, in files of the data folder.
pub(super) fn write_notes(settings: &Settings) -> anyhow::Result<()> {
    let socket = settings.given.unix.as_deref().map(std::path::absolute).transpose()?;
    let socket = socket.map(PathBuf::into_os_string).unwrap_or_default();
    for (name, text) in [(BASE_PATH_NOTE, settings.base_path.as_ref()), (SOCKET_NOTE, socket.as_os_str())] {
        let note = settings.data.join(name);
        // Removed instead of overwritten, so that a symbolic link is not followed.
        drop(fs_err::remove_file(&note));
        if !text.is_empty() {
            let mut options = fs_err::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            std::io::Write::write_all(&mut options.open(&note)?, text.as_encoded_bytes())?;
        }
    }
    Ok(())
}

/// Id of the machine's current boot. Where it is not available, every start of the server counts as a boot.
fn boot_id() -> String {
    let id = fs_err::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map_or_else(|_| Uuid::new_v4().to_string(), |id| id.trim().to_owned())
}

fn random() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}

/// An installed agent, as sessions start it: this program as its adapter.
fn agent_program(agent: &InstalledAgent) -> anyhow::Result<AgentProgram> {
    Ok(AgentProgram {
        name: agent.command.name.clone(),
        program: env::current_exe()?,
        args: agent.adapter_args()?,
        environment: agent.env.clone(),
    })
}
