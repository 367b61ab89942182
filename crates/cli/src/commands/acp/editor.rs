//! The editor at the other end of the standard streams.

use std::io;

use tidings_acp::limits::MESSAGE_BYTES_MAX;
use tidings_acp::relay::{Relay, RelayOutput};
use tidings_acp::rpc::{self, RpcError};
use tidings_protocol::ndjson::Line;
use tokio::io::AsyncWriteExt as _;

use super::connection::{self, Connection};
use crate::commands::remote::Remote;
use crate::input::StdinLines;

/// Bytes that a pipe takes without blocking, if it takes any: `PIPE_BUF`, which is smaller on macOS.
#[cfg(unix)]
const AT_ONCE_MAX: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// The editor at the other end of the standard streams.
pub(super) struct Editor {
    stdin: StdinLines,
    stdout: tokio::io::Stdout,
}

/// A line of the editor.
pub(super) enum EditorLine {
    Whole(String),
    TooLong(u64),
}

impl EditorLine {
    pub(super) fn pass(&self, relay: &mut Relay) -> RelayOutput {
        match self {
            EditorLine::Whole(line) => relay.from_editor(line),
            EditorLine::TooLong(length) => {
                RelayOutput { to_editor: vec![too_long(*length)], ..RelayOutput::default() }
            }
        }
    }
}

/// The response to a line that is too long.
pub(super) fn too_long(length: u64) -> String {
    let message = format!("A message of {length} bytes is longer than {MESSAGE_BYTES_MAX}");
    let error = RpcError::new(RpcError::INVALID_REQUEST, message, "put large files into the folder");
    rpc::response(None, &Err(error))
}

impl Editor {
    pub(super) fn new() -> Self {
        Editor { stdin: StdinLines::new(MESSAGE_BYTES_MAX), stdout: tokio::io::stdout() }
    }

    /// The next lines; `None` at the end. Cancel safe.
    pub(super) async fn read(&mut self) -> anyhow::Result<Option<Vec<EditorLine>>> {
        let take = |line: Line<'_>| match line {
            Line::Json(line) | Line::Noise(line) => {
                Some(EditorLine::Whole(String::from_utf8_lossy(line).trim().to_owned()))
            }
            Line::Oversized { len, .. } => Some(EditorLine::TooLong(len)),
            _ => None,
        };
        Ok(self.stdin.next(take).await?)
    }

    pub(super) async fn write(&mut self, lines: &[String]) -> anyhow::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for line in lines {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        // A thread that only writes would be woken for each delta.
        let written = write_at_once(&bytes)?;
        if written < bytes.len() {
            self.stdout.write_all(&bytes[written..]).await?;
            self.stdout.flush().await?;
        }
        Ok(())
    }

    /// Waits until the server is back, and reads the editor meanwhile. `None` if the editor leaves.
    pub(super) async fn wait_for_server(
        &mut self,
        relay: &mut Relay,
        remote: &Remote,
    ) -> anyhow::Result<Option<Connection>> {
        let opening = connection::open_again(remote);
        tokio::pin!(opening);
        let patience = tokio::time::sleep(connection::PATIENCE);
        tokio::pin!(patience);
        let mut has_given_up = false;
        loop {
            tokio::select! {
                opened = &mut opening => return opened.map(Some),
                () = &mut patience, if !has_given_up => {
                    has_given_up = true;
                    self.write(&relay.give_up("The server does not come back")).await?;
                }
                lines = self.read() => {
                    let Some(lines) = lines? else { return Ok(None) };
                    for line in lines {
                        let output = line.pass(relay);
                        self.write(&output.to_editor).await?;
                    }
                }
            }
        }
    }
}

/// Writes to standard output what it takes without blocking. Returns the number of bytes.
#[cfg(unix)]
fn write_at_once(bytes: &[u8]) -> io::Result<usize> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdout = io::stdout();
    let mut ready = [PollFd::new(&stdout, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if bytes.len() > AT_ONCE_MAX || poll(&mut ready, Some(&now))? == 0 {
        return Ok(0);
    }
    match rustix::io::write(&stdout, bytes) {
        Ok(count) => Ok(count),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn write_at_once(_: &[u8]) -> io::Result<usize> {
    Ok(0)
}
