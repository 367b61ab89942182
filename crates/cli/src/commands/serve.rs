//! `tidings serve`: serves sessions to browsers, phones and scripts.

mod declared;
mod demo;
#[cfg(test)]
mod documentation;
pub(crate) mod embedded;
mod file;
#[cfg_attr(not(feature = "fleet"), path = "serve/no_fleet.rs")]
mod fleet;
mod greeting;
mod logs;
mod path;
mod service;
mod setting;
mod settings;
mod start;
#[cfg(test)]
mod target_kinds;
mod variables;

use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use tidings_bridge::Server;
use tidings_bridge::auth::{self, Auth, Names, Scheme};
use tidings_bridge::server::{Exposure, choose_tls};
use tidings_commands::error::Exit;
use tidings_commands::output::Output;
use tidings_commands::signals::signals_of_server;
use tidings_sessions::secret::Random;

pub(crate) use self::service::service_file;

use self::declared::{DeclaredSettings, GivenFlags};
use self::settings::Settings;
use self::start::JournalChoice;

/// Serve sessions to browsers, phones and scripts
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct ServeArgs {
    /// Read settings from this file [default: tidings/serve.toml in the user's config folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Run a demo without Claude Code: a stand-in plays a script, and no session is stored
    #[arg(long)]
    demo: bool,

    /// Script of the stand-in [default: a built-in one]
    #[arg(long, value_name = "FILE", requires = "demo")]
    script: Option<PathBuf>,

    /// Create an empty journal if the one in the data folder is missing or another server's; an old one is
    /// moved aside
    #[arg(long, conflicts_with = "demo")]
    new_journal: bool,

    /// Write a service for the user (systemd or launchd), and start it; its settings come from the file
    #[arg(long, conflicts_with_all = ["demo", "new_journal", "config"])]
    install: bool,

    /// Accept push services on this machine, also without TLS, for tests: a device could have the server call
    /// programs on its own machine
    #[arg(long, hide = true)]
    push_on_loopback: bool,

    /// Print the server's addresses as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    settings: GivenFlags,
}

const EXAMPLES: &str = "\
Examples:
  tidings serve                                 the page on http://127.0.0.1:7717
  tidings serve --demo                          the same with a stand-in for Claude Code
  tidings serve --allow-folder ~/src            sessions may only work in this folder
  tidings serve --listen 0.0.0.0:7717 --tls-cert box.crt --tls-key box.key \\
      --public-url https://box.example:7717
  tidings serve --public-url https://box.example --base-path /tidings    behind a proxy
  tidings serve --install                       a service that starts with the user's session

Settings are read from the command line, then the environment (TIDINGS_LISTEN for --listen), then the file \
(listen = \"…\"), then the defaults; the first value found is used.
The first start prints a link that is valid for one device and one minute; `tidings pair` creates another. \
SIGTERM, SIGHUP or Ctrl-C shuts the server down gracefully, a second one at once; under nohup, SIGHUP is ignored.";

impl ServeArgs {
    /// Serves the sessions of other servers only.
    pub(crate) fn run_hub(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let mut settings = Settings::gather(self)?;
        fleet::as_hub(&mut settings)?;
        self.run_with(&settings, out)
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        if self.install {
            return service::install(self.json, out);
        }
        let mut settings = Settings::gather(self)?;
        if fleet::is_hub(&settings.data)? {
            fleet::as_hub(&mut settings)?;
        }
        self.run_with(&settings, out)
    }

    fn run_with(&self, settings: &Settings, out: &mut Output) -> anyhow::Result<Exit> {
        logs::start(settings.given.log, settings.given.log_level);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(workers()).enable_all().build()?;
        let journal = if self.new_journal { JournalChoice::NewIfMissing } else { JournalChoice::Existing };
        let exit = runtime.block_on(serve(settings, journal, self, out));
        // Do not wait for blocking tasks; the graceful shutdown is over.
        runtime.shutdown_background();
        if let Some(demo) = &settings.demo {
            drop(fs_err::remove_dir_all(&demo.folder));
        }
        exit
    }
}

/// Listen address of a server without command-line settings; none if it listens on its socket only.
pub(crate) fn configured_listen() -> anyhow::Result<Option<SocketAddr>> {
    Ok(settings::listen(&configured("listen")?.listen)?)
}

/// Data folder of a server without command-line settings; commands that talk to a server look there.
pub(crate) fn configured_data() -> anyhow::Result<PathBuf> {
    let data = configured("data")?.data.map(PathBuf::from);
    let data = data.map_or_else(settings::default_data, Ok)?;
    Ok(std::path::absolute(data)?)
}

/// Default path of the settings file, which may not exist.
pub(crate) fn default_file() -> Option<PathBuf> {
    tidings_commands::settings_file::default_path()
}

/// Validates a settings file.
pub(crate) fn check_file(path: &Path) -> anyhow::Result<()> {
    file::read(path).map(drop)
}

/// The variable of a setting, by its key in the file.
pub(crate) fn variable(key: &str) -> String {
    setting::variable(key)
}

/// Reads one setting from its variable, or else from the file. Other variables are ignored, so that errors in
/// them do not matter, nor do those of a file that is not read.
fn configured(key: &str) -> anyhow::Result<DeclaredSettings> {
    let variable = setting::variable(key);
    let Some(value) = env::var_os(&variable).filter(|value| !value.is_empty()) else {
        return file::read_default();
    };
    let mut settings = DeclaredSettings::default();
    variables::replace(&mut settings, [(variable.into(), value)])?;
    Ok(settings)
}

/// Number of worker threads: one per four cores. The server's tasks are short, and long or blocking work has
/// its own threads. Each further worker is woken for deltas that another has already forwarded, which costs
/// as much as forwarding them.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(4))
}

async fn serve(
    settings: &Settings,
    journal: JournalChoice,
    args: &ServeArgs,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let first = signals_of_server()?;
    choose_tls();
    if let Some(files) = &settings.tls {
        start::check_tls(files)?;
    }
    if settings.demo.is_some() {
        start::check_demo_folder(&settings.data)?;
    }
    tidings_sessions::private::data_folder(&settings.data)?;
    let auth = Auth::open(auth_settings(settings)?)?;
    let listen = start::listen(settings);
    let socket = listen.unix.clone();
    let bound = listen.bind()?;
    let sessions = start::sessions(settings, &auth, journal).await?;
    let addresses = greeting::BoundAddresses { port: bound.address(), socket: socket.as_deref() };
    let address = greeting::address(settings, addresses.port);
    // Links need a host name; without a port, `localhost` is a placeholder.
    auth.reached_at(address.as_deref().unwrap_or("http://localhost"));
    start::write_notes(settings)?;
    if let Some(demo) = &settings.demo {
        demo.begin(&sessions).await?;
    }
    let server = Server::new(sessions, auth.clone())
        .transcripts(start::transcripts())
        .retention(settings.retention)
        .notifier(start::notifier(settings, address.as_deref(), args.push_on_loopback)?);
    let server = match start::archive(settings) {
        Some(archive) => server.archive(archive),
        None => server,
    };
    let server = match fleet::open(settings).await? {
        Some(fleet) => server.fleet(fleet),
        None => server,
    };
    let warnings = if args.json { Vec::new() } else { greeting::warnings(settings).await };
    greeting::print(settings, &auth, &addresses, &warnings, args.json, out)?;

    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let stop = async {
        first.await;
        // The receiver is gone only if the server is already shutting down.
        let _ = stopping.send(());
    };
    let again = async {
        drop(stopped.await);
        match signals_of_server() {
            Ok(second) => second.await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = server.run(bound, stop) => ended?,
        () = again => return Ok(Exit::Code(130)),
    }
    Ok(Exit::Success)
}

fn auth_settings(settings: &Settings) -> anyhow::Result<auth::Settings> {
    let clock = tidings_agent::Clock::system();
    let mut auth = auth::Settings::new(&settings.data, Random::system(), clock);
    let mut names = Names::loopback();
    if let Some(address) = settings.listen {
        names = names.and_address(address.ip());
    }
    for url in &settings.given.public_urls {
        names = names.and_url(url)?;
    }
    auth.names = names;
    auth.scheme = if settings.tls.is_some() { Scheme::Https } else { Scheme::Http };
    auth.base_path.clone_from(&settings.base_path);
    Ok(auth)
}

impl Settings {
    fn exposure(&self) -> Exposure {
        if self.given.insecure_listen { Exposure::InTheClear } else { Exposure::Guarded }
    }
}
