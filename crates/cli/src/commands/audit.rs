//! `tidings audit`: the log of who decided what.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use reqwest::Method;
use serde::Serialize;
use tidings_bridge::journal::{AUDIT_START, AuditEntry, verify_audit};

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

A log that was cut off at its end is a good shorter log: keep the number and the hash that `verify` prints somewhere
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
                out.bytes(&fetched(&export.remote)?)?;
                Ok(Exit::Fine)
            }
            AuditCommand::Verify(verify) => verify.run(out),
        }
    }
}

impl Verify {
    /// Each line is checked against the one before it, so that a log of any length fits.
    fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let source: Box<dyn std::io::BufRead> = match &self.file {
            Some(path) => Box::new(BufReader::new(fs_err::File::open(path)?)),
            None => Box::new(std::io::Cursor::new(fetched(&self.remote)?)),
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

fn fetched(remote: &RemoteArgs) -> anyhow::Result<Vec<u8>> {
    let remote = remote.remote()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let response = remote.send(remote.request(Method::GET, "/v1/audit")).await?;
        Ok(response.bytes().await?.to_vec())
    })
}
