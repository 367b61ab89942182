//! The editor at the other end of the standard streams.

use std::io;

use tidings_acp::limits::MESSAGE_BYTES_MAX;
use tidings_acp::lines::{EditorLine, EditorLines};
use tidings_acp::relay::{Relay, RelayOutput};
use tidings_commands::input::READ_BYTES;
use tidings_remote::RemoteServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::connection::{self, Connection};

/// Bytes that a pipe takes without blocking, if it takes any: `PIPE_BUF`, which is smaller on macOS.
#[cfg(unix)]
const AT_ONCE_MAX: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// The editor at the other end of the standard streams.
pub(super) struct Editor {
    stdin: tokio::io::Stdin,
    lines: EditorLines,
    buffer: Vec<u8>,
    stdout: tokio::io::Stdout,
}

/// Passes a line of the editor to the relay.
pub(super) fn pass(line: EditorLine, relay: &mut Relay) -> RelayOutput {
    match line {
        EditorLine::Whole(line) => relay.from_editor(&line),
        EditorLine::TooLong(long) if long.is_response() => relay.from_editor(&long.error()),
        EditorLine::TooLong(long) => RelayOutput { to_editor: vec![long.error()], ..RelayOutput::default() },
    }
}

impl Editor {
    pub(super) fn new() -> Self {
        Editor {
            stdin: tokio::io::stdin(),
            lines: EditorLines::new(MESSAGE_BYTES_MAX),
            buffer: vec![0; READ_BYTES],
            stdout: tokio::io::stdout(),
        }
    }

    /// The next lines; `None` at the end. Cancel safe.
    pub(super) async fn read(&mut self) -> anyhow::Result<Option<Vec<EditorLine>>> {
        let count = self.stdin.read(&mut self.buffer).await?;
        Ok((count > 0).then(|| self.lines.push(&self.buffer[..count])))
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
        remote: &RemoteServer,
    ) -> anyhow::Result<Option<Connection>> {
        let opening = connection::open_again(remote);
        tokio::pin!(opening);
        let patience = tokio::time::sleep(connection::PATIENCE);
        tokio::pin!(patience);
        let mut has_given_up = false;
        loop {
            tokio::select! {
                opened = &mut opening => return Ok(Some(opened?)),
                () = &mut patience, if !has_given_up => {
                    has_given_up = true;
                    self.write(&relay.give_up("The server does not come back")).await?;
                }
                lines = self.read() => {
                    let Some(lines) = lines? else { return Ok(None) };
                    for line in lines {
                        let output = pass(line, relay);
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
