use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use tidings_rehearsal::api::{Bodies, Entry, Reach, Report, Server, Settings, StartError};
use tidings_rehearsal::script::Script;
use tokio::sync::oneshot;

use crate::error::{CannotRun, Exit};
use crate::output::{Output, printable};
use crate::signals::signals;

/// Arguments of `tidings rehearse api`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct Api {
    /// What the model answers
    #[arg(long, value_name = "FILE")]
    script: PathBuf,

    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Listen where other machines can reach, too
    #[arg(long)]
    allow_remote: bool,

    /// Write one line of JSON per request
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Put the requests' bodies into the log, prompts and files included
    #[arg(long, requires = "log")]
    log_bodies: bool,

    /// Write the port here once the server listens
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,

    /// Make other ids than with another number, for a session that goes on in a second run
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Stop when stdin ends, not only at SIGINT or SIGTERM
    #[arg(long)]
    until_eof: bool,

    /// Let turns go unused, and requests without a turn
    #[arg(long)]
    lenient: bool,

    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
The first line on stdout is {\"listening\":\"http://127.0.0.1:PORT\"}; the report comes at the end. \
Exits with 1 if an expectation was not met, a turn was not used or a request found none.

Examples:
  tidings rehearse api --script hello.toml --listen 127.0.0.1:8787
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ANTHROPIC_API_KEY=none claude -p hello";

pub(crate) fn run(args: &Api, out: &mut Output) -> anyhow::Result<Exit> {
    let script = super::script(&args.script)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let report = runtime.block_on(serve(args, &script, out))?;
    if args.json {
        out.text(&format!("{}\n", json!({ "report": report })))?;
    } else {
        out.note(&printable_lines(&report.to_string()))?;
    }
    let fine = report.expectations_met() && (args.lenient || report.turns_fit());
    Ok(if fine { Exit::Fine } else { Exit::NotFine })
}

async fn serve(args: &Api, script: &Script, out: &mut Output) -> anyhow::Result<Report> {
    let mut settings = Settings::new(args.listen);
    settings.seed = args.seed;
    if args.allow_remote {
        settings.reach = Reach::Anywhere;
    }
    if args.log_bodies {
        settings.bodies = Bodies::Kept;
    }
    let log = Log::open(args.log.as_deref())?;
    // A signal counts as soon as somebody can know that there is a server.
    let ended = ended(args)?;
    let mut lines = log.clone();
    let started = Server::start(script, settings, move |entry| lines.write(entry)).await;
    let server = started.map_err(|error| cannot_start(&error))?;
    if let Some(path) = &args.port_file {
        write_whole(path, &format!("{}\n", server.addr().port()))?;
    }
    out.text(&format!("{}\n", json!({ "listening": server.url() })))?;
    out.flush()?;
    let name = script.name.clone().unwrap_or_else(|| args.script.display().to_string());
    let note =
        format!("Rehearsing {}: run `claude` with ANTHROPIC_BASE_URL={}", printable(&name), server.url());
    out.note(&note)?;
    ended.await;
    let report = server.stop().await;
    log.finish()?;
    Ok(report)
}

/// Waits for a signal, or for the end of stdin.
fn ended(args: &Api) -> io::Result<impl Future<Output = ()> + use<>> {
    let eof = args.until_eof.then(stdin_ends);
    let signalled = signals()?;
    Ok(async move {
        let eof = async {
            match eof {
                // An error means that the thread is gone, and then nobody reads stdin.
                Some(eof) => drop(eof.await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = eof => {}
            () = signalled => {}
        }
    })
}

/// Reads stdin to its end on a thread of its own: the read cannot be called off, and the process ends regardless.
fn stdin_ends() -> oneshot::Receiver<()> {
    let (tell, told) = oneshot::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        let mut stdin = io::stdin().lock();
        while matches!(stdin.read(&mut buffer), Ok(1..)) {}
        // The server may have been stopped in another way.
        let _stopped = tell.send(());
    });
    told
}

fn cannot_start(error: &StartError) -> anyhow::Error {
    let (code, hint) = match error {
        StartError::NotLoopback(_) => (CannotRun::USAGE, "pass --allow-remote if that is what you want"),
        StartError::Header { .. } => ("bad_script", "names of headers are letters, digits and dashes"),
        _ => ("cannot_listen", "`--listen 127.0.0.1:0` takes a free port"),
    };
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    CannotRun { code, message, hint }.into()
}

/// Writes a file that is either not there or complete, for whoever waits for it.
fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    fs_err::write(&name, text)?;
    fs_err::rename(&name, path)?;
    Ok(())
}

/// Line by line, so that the report stays one.
fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// The request log; a failure is remembered, since requests are answered all the same.
#[derive(Clone)]
struct Log(Arc<Mutex<LogState>>);

struct LogState {
    file: Option<fs_err::File>,
    failed: Option<anyhow::Error>,
}

impl Log {
    fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let file = path.map(fs_err::File::create).transpose()?;
        Ok(Log(Arc::new(Mutex::new(LogState { file, failed: None }))))
    }

    fn write(&mut self, entry: &Entry) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        if let (Some(file), None) = (&mut state.file, &state.failed) {
            state.failed = write_line(file, entry).err();
        }
    }

    fn finish(&self) -> anyhow::Result<()> {
        let failed = self.0.lock().unwrap_or_else(PoisonError::into_inner).failed.take();
        failed.map_or(Ok(()), Err).context("The log of requests is incomplete")
    }
}

fn write_line(file: &mut fs_err::File, entry: &Entry) -> anyhow::Result<()> {
    let line = serde_json::to_string(entry)? + "\n";
    // One write per line: whoever follows the file sees whole lines.
    file.write_all(line.as_bytes())?;
    Ok(())
}
