//! `tidings audit`: the log of who decided what.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use reqwest::{Method, Response};
use serde::Serialize;
use tidings_bridge::journal::{AUDIT_START, AuditEntry, verify_audit};
use tokio::runtime::Runtime;

use crate::error::{CannotRun, Exit};
use crate::output::Output;
use crate::remote::RemoteArgs;

/// Export and verify the log of who decided what
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum AuditCommand {
    /// Print the log, one line of JSON for each decision
    Export(Export),
    /// Check that no line was changed, taken out or put in
    Verify(Verify),
}

const EXAMPLES: &str = "\
Examples:
  tidings audit export > audit.ndjson
  tidings audit verify                  the log of the server that runs
  tidings audit verify audit.ndjson     an export

A log that was cut off at its end is a good shorter log: keep the number and the hash that `verify` prints somewhere \
else, and compare. Exit code 1 says that a line does not follow from the one before it.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// An export [default: ask the server]
    file: Option<PathBuf>,
    #[command(flatten)]
    remote: RemoteArgs,
}

/// How far the log is good, for scripts.
#[derive(Serialize)]
struct Verdict {
    ok: bool,
    lines: u64,
    hash: String,
}

impl AuditCommand {
    /// Whether errors are wanted as JSON too.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            AuditCommand::Export(Export { remote }) | AuditCommand::Verify(Verify { remote, .. }) => {
                remote.json
            }
        }
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        match self {
            AuditCommand::Export(export) => {
                let mut log = Log::open(&export.remote)?;
                while !log.fill_buf()?.is_empty() {
                    let length = log.buffer().len();
                    out.bytes(log.buffer())?;
                    log.consume(length);
                }
                Ok(Exit::Fine)
            }
            AuditCommand::Verify(verify) => verify.run(out),
        }
    }
}

impl Verify {
    /// Each line is checked against the one before it, so that a log of any length fits.
    fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let source: Box<dyn BufRead> = match &self.file {
            Some(path) => Box::new(BufReader::new(fs_err::File::open(path)?)),
            None => Box::new(Log::open(&self.remote)?),
        };
        let mut last = (0, AUDIT_START.to_owned());
        let mut ok = true;
        for line in source.lines() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let entry: AuditEntry = serde_json::from_str(&line).map_err(|error| CannotRun {
                code: "failed",
                message: format!("Line {} is no line of an audit log: {error}", last.0 + 1),
                hint: "`tidings audit export` writes one",
            })?;
            let Ok(next) = verify_audit((last.0, &last.1), [&entry]) else {
                ok = false;
                break;
            };
            last = next;
        }
        let (lines, hash) = last;
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&Verdict { ok, lines, hash })?))?;
        } else if ok {
            out.text(&format!("{lines} {hash}\n"))?;
        } else {
            out.note(&format!("Line {} does not follow from the one before it", lines + 1))?;
        }
        Ok(if ok { Exit::Fine } else { Exit::NotFine })
    }
}

/// The log of a server, read as it comes: it may be longer than what fits into memory, and take its time.
struct Log {
    runtime: Runtime,
    response: Response,
    part: Cursor<Vec<u8>>,
}

impl Log {
    fn open(remote: &RemoteArgs) -> anyhow::Result<BufReader<Log>> {
        let remote = remote.remote()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let request = remote.request(Method::GET, "/v1/audit").timeout(Duration::MAX);
        let response = runtime.block_on(remote.send(request))?;
        Ok(BufReader::new(Log { runtime, response, part: Cursor::default() }))
    }
}

impl Read for Log {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.part.fill_buf()?.is_empty() {
            let next = self.runtime.block_on(self.response.chunk()).map_err(std::io::Error::other)?;
            self.part = Cursor::new(next.map_or_else(Vec::new, |part| part.to_vec()));
        }
        self.part.read(into)
    }
}
