//! `tidings serve`: sessions for browsers, phones and scripts.

mod demo;
mod file;
mod greeting;
mod logs;
mod settings;
mod start;
mod variables;

use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use tidings_bridge::auth::{Auth, Names, Random, Scheme};
use tidings_bridge::server::{Exposure, choose_tls};
use tidings_bridge::{Server, auth};

use self::settings::{Layer, Settings};
use self::start::JournalWanted;
use crate::error::Exit;
use crate::output::Output;
use crate::signals::signals_of_server;

/// Serve sessions to browsers, phones and scripts
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Read settings from this file [default: tidings/serve.toml in the user's config folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Show it without Claude Code: a stand-in plays a script, and no session is kept
    #[arg(long)]
    demo: bool,

    /// The script of the stand-in [default: one that comes with Tidings]
    #[arg(long, value_name = "FILE", requires = "demo")]
    script: Option<PathBuf>,

    /// Begin an empty journal if the one in the data folder is missing or another server's; what is there is put aside
    #[arg(long, conflicts_with = "demo")]
    new_journal: bool,

    /// Print where the server is as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    settings: Layer,
}

const EXAMPLES: &str = "\
Examples:
  tidings serve                                 the page on http://127.0.0.1:7717
  tidings serve --demo                          the same with a stand-in for Claude Code
  tidings serve --allow-folder ~/src            sessions may work there and nowhere else
  tidings serve --listen 0.0.0.0:7717 --tls-cert box.crt --tls-key box.key \\
      --public-url https://box.example:7717
  tidings serve --public-url https://box.example --base-path /tidings    behind a proxy

A setting is taken from the command line, else from the environment (TIDINGS_LISTEN for --listen), \
else from the file (listen = \"…\"), else from the defaults.
The first start prints a link that is good for one device and one minute; `tidings pair` makes another. \
SIGTERM, SIGHUP or Ctrl-C ends it in order, a second one at once; under nohup, SIGHUP does nothing.";

impl Serve {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let settings = Settings::gather(self)?;
        logs::start(settings.log, settings.log_level);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(workers()).enable_all().build()?;
        let journal = if self.new_journal { JournalWanted::NewIfMissing } else { JournalWanted::AsLeft };
        let exit = runtime.block_on(serve(&settings, journal, self.json, out));
        // Whatever still waits for a disk or an agent has had its time.
        runtime.shutdown_background();
        if let Some(demo) = &settings.demo {
            drop(fs_err::remove_dir_all(&demo.folder));
        }
        exit
    }
}

/// Where a server listens that is told nothing on its command line, if it is on a port.
pub(crate) fn usual_listen() -> anyhow::Result<Option<SocketAddr>> {
    let said = usual("TIDINGS_LISTEN", |said| said.listen.is_some())?;
    Ok(settings::listen(said.listen.as_deref())?)
}

/// Where a server keeps its data that is told nothing on its command line: there the commands look that talk to it.
pub(crate) fn usual_data() -> anyhow::Result<PathBuf> {
    let said = usual("TIDINGS_DATA_DIR", |said| said.data.is_some())?;
    let data = said.data.map_or_else(settings::default_data, Ok)?;
    Ok(std::path::absolute(data)?)
}

/// The file of settings where nobody names another, there or not.
pub(crate) fn usual_file() -> Option<PathBuf> {
    file::usual()
}

/// Reads a file of settings, and says what is wrong with it.
pub(crate) fn check_file(path: &Path) -> anyhow::Result<()> {
    file::read(path).map(drop)
}

/// What one variable says, or else the file. The others are none of the business of whoever asks.
fn usual(variable: &str, is_said: impl Fn(&Layer) -> bool) -> anyhow::Result<Layer> {
    let said = variables::layer(env::vars_os().filter(|(name, _)| name == variable))?;
    if is_said(&said) { Ok(said) } else { file::read_usual() }
}

/// Few threads: what the server does is short, and whatever takes long or waits for a disk has threads of its own. Each thread more is
/// woken for pieces of text that another has passed on already, which costs as much as passing them on.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(4))
}

async fn serve(
    settings: &Settings,
    journal: JournalWanted,
    json: bool,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let first = signals_of_server()?;
    choose_tls();
    if let Some(files) = &settings.tls {
        start::check_tls(files)?;
    }
    auth::data_folder(&settings.data)?;
    let auth = Auth::open(guard_settings(settings)?)?;
    let listen = start::listen(settings);
    let socket = listen.unix.clone();
    let bound = listen.bind()?;
    let sessions = start::sessions(settings, &auth, journal).await?;
    let place = greeting::Place { port: bound.address(), socket: socket.as_deref() };
    let address = greeting::address(settings, place.port);
    // Links of a socket need some name, and lead nowhere but to this machine.
    auth.reached_at(address.as_deref().unwrap_or("http://localhost"));
    start::leave_notes(settings)?;
    if let Some(demo) = &settings.demo {
        demo.begin(&sessions).await?;
    }
    let server = Server::new(sessions, auth.clone())
        .transcripts(start::transcripts())
        .retention(settings.retention)
        .notifier(start::notifier(settings, address.as_deref())?);
    greeting::print(settings, &auth, &place, json, out)?;

    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let stop = async {
        first.await;
        // Whoever does not listen any more is on the way out already.
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
    Ok(Exit::Fine)
}

fn guard_settings(settings: &Settings) -> anyhow::Result<auth::Settings> {
    let clock = tidings_agent::Clock::system();
    let mut auth = auth::Settings::new(&settings.data, Random::system(), clock);
    let mut names = Names::loopback();
    if let Some(address) = settings.listen {
        names = names.and_address(address.ip());
    }
    for url in &settings.public_urls {
        names = names.and_url(url)?;
    }
    auth.names = names;
    auth.scheme = if settings.tls.is_some() { Scheme::Https } else { Scheme::Http };
    auth.base_path.clone_from(&settings.base_path);
    Ok(auth)
}

impl Settings {
    fn exposure(&self) -> Exposure {
        if self.insecure_listen { Exposure::InTheClear } else { Exposure::Guarded }
    }
}
