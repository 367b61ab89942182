//! `tidings rehearse api`: serves the stand-in for the Messages API.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use parking_lot::Mutex;
use serde_json::json;
use tidings_base::files;
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
pub struct RehearseApiArgs {
    /// Script of the model's answers
    #[arg(long, value_name = "FILE")]
    script: PathBuf,

    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Allow an address that other machines can reach
    #[arg(long)]
    allow_remote: bool,

    /// Log each request as one line of JSON to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Log the bodies of requests too, including prompts and files
    #[arg(long, requires = "log")]
    log_bodies: bool,

    /// Write the port to this file once the server listens
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,

    /// Seed of generated ids; use another one for a session that continues in a second run
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Stop at the end of stdin too, not only at SIGINT or SIGTERM
    #[arg(long)]
    until_eof: bool,

    /// Allow unused turns, and requests without a turn
    #[arg(long)]
    lenient: bool,

    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
The first line on stdout is {\"listening\":\"http://127.0.0.1:PORT\"}; the report follows at the end. \
Exit code 1 means that an expectation was not met, a turn was not used, or a request had no turn.

Examples:
  tidings rehearse api --script hello.toml --listen 127.0.0.1:8787
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ANTHROPIC_API_KEY=none claude -p hello";

pub(crate) fn run(args: &RehearseApiArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let script = super::script(&args.script)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let report = runtime.block_on(serve(args, &script, out))?;
    if args.json {
        out.text(&format!("{}\n", json!({ "report": report })))?;
    } else {
        out.note(&printable_lines(&report.to_string()))?;
    }
    let fine = report.expectations_met() && (args.lenient || report.turns_fit());
    Ok(if fine { Exit::Success } else { Exit::Failure })
}

async fn serve(args: &RehearseApiArgs, script: &Script, out: &mut Output) -> anyhow::Result<Report> {
    let mut settings = Settings::new(args.listen);
    settings.seed = args.seed;
    if args.allow_remote {
        settings.reach = Reach::Anywhere;
    }
    if args.log_bodies {
        settings.bodies = Bodies::Kept;
    }
    let log = RequestLog::open(args.log.as_deref())?;
    // Catch signals before the address is printed, so that none is missed.
    let ended = ended(args)?;
    let mut lines = log.clone();
    let started = Server::start(script, settings, move |entry| lines.write(entry)).await;
    let server = started.map_err(|error| cannot_start(&error))?;
    if let Some(path) = &args.port_file {
        files::replace(path, format!("{}\n", server.addr().port()).as_bytes())?;
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
fn ended(args: &RehearseApiArgs) -> io::Result<impl Future<Output = ()> + use<>> {
    let eof = args.until_eof.then(stdin_ends);
    let signalled = signals()?;
    Ok(async move {
        let eof = async {
            match eof {
                // An error means that the thread has ended, which counts as the end of stdin.
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

/// Reads stdin to its end in a separate thread: the read cannot be cancelled, and must not delay the exit.
fn stdin_ends() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        let mut stdin = io::stdin().lock();
        while matches!(stdin.read(&mut buffer), Ok(1..)) {}
        // The receiver is gone if the server was stopped by a signal.
        let _stopped = sender.send(());
    });
    receiver
}

fn cannot_start(error: &StartError) -> anyhow::Error {
    let (code, hint) = match error {
        StartError::NotLoopback(_) => (CannotRun::USAGE, "pass --allow-remote to allow it"),
        StartError::Header { .. } => ("bad_script", "header names consist of letters, digits and dashes"),
        _ => ("cannot_listen", "`--listen 127.0.0.1:0` selects a free port"),
    };
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    CannotRun { code, message, hint }.into()
}

/// Makes each line printable, and keeps the line breaks.
fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Request log. A write error is stored until the end, since requests are still answered.
#[derive(Clone)]
struct RequestLog(Arc<Mutex<RequestLogState>>);

struct RequestLogState {
    file: Option<fs_err::File>,
    failed: Option<anyhow::Error>,
}

impl RequestLog {
    fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let file = path.map(fs_err::File::create).transpose()?;
        Ok(RequestLog(Arc::new(Mutex::new(RequestLogState { file, failed: None }))))
    }

    fn write(&mut self, entry: &Entry) {
        let mut state = self.0.lock();
        let state = &mut *state;
        if let (Some(file), None) = (&mut state.file, &state.failed) {
            state.failed = write_line(file, entry).err();
        }
    }

    fn finish(&self) -> anyhow::Result<()> {
        let failed = self.0.lock().failed.take();
        failed.map_or(Ok(()), Err).context("The log of requests is incomplete")
    }
}

fn write_line(file: &mut fs_err::File, entry: &Entry) -> anyhow::Result<()> {
    let line = serde_json::to_string(entry)? + "\n";
    // One write per line, so that readers of the file see complete lines.
    file.write_all(line.as_bytes())?;
    Ok(())
}
