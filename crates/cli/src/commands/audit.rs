//! `tidings audit`: the audit log of decisions.

mod line;

use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::Output;
use tidings_journal::{AUDIT_START, AuditKey, verify_audit, verify_sealed_audit};
use tidings_remote::RemoteBody;
use tokio::runtime::Runtime;

use crate::commands::remote::RemoteArgs;
use crate::commands::serve;

/// Export and verify the audit log of decisions
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum AuditCommand {
    /// Print the log as one line of JSON per decision
    Export(AuditExportArgs),
    /// Verify that no line was changed, removed or inserted
    Verify(AuditVerifyArgs),
}

/// Name of the file with the key of the log, in the data folder of a server.
const KEY: &str = "journal.db-audit-key";

const EXAMPLES: &str = "\
Examples:
  tidings audit export > audit.ndjson
  tidings audit verify                  the log of the running server
  tidings audit verify audit.ndjson     an export

Each line contains a hash of the line before it, so no line can be changed on its own. With the key of the log \
(journal.db-audit-key in the data folder) `verify` also proves that the sealed lines were written by a server that has \
the key. It cannot detect a rewrite by someone who has the key, nor a rewrite of unsealed lines from versions before \
the key existed. A log that was truncated still verifies: store the number and the hash that `verify` prints \
elsewhere, and compare them. Exit code 1 means that a line is wrong.";

#[derive(Debug, Args)]
pub(crate) struct AuditExportArgs {
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArgs {
    /// Exported log [default: the log of the server]
    file: Option<PathBuf>,
    /// Key of the log [default: the key in the data folder on this machine]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    remote: RemoteArgs,
}

/// JSON result of `verify`.
#[derive(Serialize)]
struct AuditVerdict {
    ok: bool,
    lines: u64,
    hash: String,
    /// Number of lines with a seal.
    sealed: u64,
    /// True if the seals were checked with the key.
    key: bool,
    /// The reason why the log is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl AuditCommand {
    /// True if `--json` was given, so that errors are printed as JSON too.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            AuditCommand::Export(AuditExportArgs { remote })
            | AuditCommand::Verify(AuditVerifyArgs { remote, .. }) => remote.json,
        }
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        match self {
            AuditCommand::Export(export) => {
                let mut log = AuditLog::open(&export.remote)?;
                while !log.fill_buf()?.is_empty() {
                    let length = log.buffer().len();
                    out.bytes(log.buffer())?;
                    log.consume(length);
                }
                Ok(Exit::Success)
            }
            AuditCommand::Verify(verify) => verify.run(out),
        }
    }
}

impl AuditVerifyArgs {
    /// Reads the key given with `--key`, else that of the server on this machine. An export may be from
    /// another server, so it is checked with an explicit key only.
    fn key(&self) -> anyhow::Result<Option<AuditKey>> {
        let is_elsewhere = self.remote.server.is_some() || std::env::var_os("TIDINGS_SERVER").is_some();
        let key_file = || {
            let data = self
                .remote
                .data
                .clone()
                .or_else(|| serve::configured_data().ok().filter(|_| !is_elsewhere))?;
            Some(data.join(KEY)).filter(|path| self.file.is_none() && path.is_file())
        };
        let Some(path) = self.key.clone().or_else(key_file) else { return Ok(None) };
        let text = fs_err::read_to_string(&path)?;
        let key = AuditKey::parse(&text).ok_or_else(|| CannotRun {
            code: "failed",
            message: format!("Not the key of an audit log: `{}`", path.display()),
            hint: "use `journal.db-audit-key` from the data folder of the server",
        })?;
        Ok(Some(key))
    }

    /// Checks each line against the one before it, so that memory does not depend on the length of the log.
    fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let source: Box<dyn BufRead> = match &self.file {
            Some(path) => Box::new(BufReader::new(fs_err::File::open(path)?)),
            None => Box::new(AuditLog::open(&self.remote)?),
        };
        let key = self.key()?;
        let (mut last, mut sealed) = ((0, AUDIT_START.to_owned()), 0);
        let mut reason = None;
        for line in source.lines() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let entry = line::read(&line).map_err(|error| CannotRun {
                code: "failed",
                message: format!("Line {} is not an entry of an audit log: {error}", last.0 + 1),
                hint: "give a file written by `tidings audit export`",
            })?;
            let before = (last.0, last.1.as_str());
            let verified = match &key {
                Some(key) => verify_sealed_audit(before, [&entry], key),
                None => verify_audit(before, [&entry]),
            };
            let number = last.0 + 1;
            let Ok(next) = verified else {
                let message = "does not follow from the one before it, or its seal is wrong";
                reason = Some(format!("Line {number} {message}"));
                break;
            };
            if !line::has_server_keys(&line, &entry) {
                reason = Some(format!("Line {number} has other keys than a server writes"));
                break;
            }
            sealed += u64::from(entry.is_sealed());
            last = next;
        }
        let (lines, hash) = last;
        let reason = reason.or_else(|| missing_lines(lines, key.as_ref()?));
        let ok = reason.is_none();
        if self.remote.json {
            out.json(&AuditVerdict { ok, lines, hash, sealed, key: key.is_some(), reason })?;
        } else if let Some(reason) = reason {
            out.note(&reason)?;
        } else {
            out.text(&format!("{lines} {hash}\n"))?;
            out.note(&proof_summary(lines, sealed, key.is_some()))?;
        }
        Ok(if ok { Exit::Success } else { Exit::Failure })
    }
}

/// The reason why a log is too short for its key, which knows the number of lines that were there before it.
fn missing_lines(lines: u64, key: &AuditKey) -> Option<String> {
    let before = key.from().saturating_sub(1);
    (lines < before).then(|| {
        format!(
            "Lines {} to {before} are missing: the log had {before} lines when its key was made",
            lines + 1
        )
    })
}

/// Describes what the verification proves, and what it does not.
fn proof_summary(lines: u64, sealed: u64, has_key: bool) -> String {
    let unsealed = lines.saturating_sub(sealed);
    let seals = match (has_key, sealed) {
        (_, 0) => "No line is sealed with a key, so the whole log could have been rewritten".to_owned(),
        (true, _) => format!("{sealed} of {lines} lines are sealed with the key"),
        (false, _) => {
            format!(
                "{sealed} of {lines} lines are sealed; their seals were not checked, name the key with --key"
            )
        }
    };
    let older = if has_key && sealed > 0 && unsealed > 0 {
        "; the lines before them were written before there was a key, and the first sealed line covers them"
    } else {
        ""
    };
    format!("{seals}{older}. Missing lines at the end cannot be detected: compare the number and the hash")
}

/// Audit log of a server, streamed, since it may not fit into memory.
struct AuditLog {
    runtime: Runtime,
    body: RemoteBody,
    part: Cursor<Vec<u8>>,
}

impl AuditLog {
    fn open(remote: &RemoteArgs) -> anyhow::Result<BufReader<AuditLog>> {
        let remote = remote.remote()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let body = runtime.block_on(remote.read("/v1/audit"))?;
        Ok(BufReader::new(AuditLog { runtime, body, part: Cursor::default() }))
    }
}

impl Read for AuditLog {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.part.fill_buf()?.is_empty() {
            let next = self.runtime.block_on(self.body.chunk()).map_err(std::io::Error::other)?;
            self.part = Cursor::new(next.map_or_else(Vec::new, |part| part.to_vec()));
        }
        self.part.read(into)
    }
}
