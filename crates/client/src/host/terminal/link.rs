//! A connection to a terminal host.

use std::io;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::record::{TerminalFolder, TerminalRecord};
use super::wire::{self, FromTerminal, TerminalRole, TerminalSize, ToTerminal, TypingOutcome};

/// Time for a program to draw its screen anew after a key.
const REDRAWN_WITHIN: Duration = Duration::from_secs(1);

/// The side of a connection that receives.
#[derive(Debug)]
pub struct TerminalReader(OwnedReadHalf);

/// The side of a connection that sends.
#[derive(Debug)]
pub struct TerminalWriter(OwnedWriteHalf);

impl TerminalFolder {
    /// Connects to a host.
    pub async fn attach(
        &self,
        record: &TerminalRecord,
        role: TerminalRole,
        size: Option<TerminalSize>,
    ) -> io::Result<(TerminalReader, TerminalWriter)> {
        let stream = self.connect(record)?;
        stream.set_nonblocking(true)?;
        let (read, write) = UnixStream::from_std(stream)?.into_split();
        let mut writer = TerminalWriter(write);
        writer.send(&ToTerminal::Hello(role, size)).await?;
        Ok((TerminalReader(read), writer))
    }

    /// Types a prompt, if the screen allows it now.
    pub async fn prompt(&self, record: &TerminalRecord, text: &str) -> io::Result<TypingOutcome> {
        self.steer(record, &ToTerminal::Prompt(text.to_owned())).await
    }

    /// Types Esc, if the screen allows it now.
    pub async fn interrupt(&self, record: &TerminalRecord) -> io::Result<TypingOutcome> {
        self.steer(record, &ToTerminal::Interrupt).await
    }

    /// Types Esc, whatever is on the screen.
    pub async fn close_screen(&self, record: &TerminalRecord) -> io::Result<()> {
        let (mut reader, mut writer) = self.attach(record, TerminalRole::Keys, None).await?;
        writer.send(&ToTerminal::Keys(b"\x1b".to_vec())).await?;
        // The host takes no more keys from a connection that has ended.
        let drawn = async {
            while !matches!(reader.next().await, Ok(Some(FromTerminal::Output(_)) | None) | Err(_)) {}
        };
        drop(tokio::time::timeout(REDRAWN_WITHIN, drawn).await);
        Ok(())
    }

    async fn steer(&self, record: &TerminalRecord, message: &ToTerminal) -> io::Result<TypingOutcome> {
        let (mut reader, mut writer) = self.attach(record, TerminalRole::Steer, None).await?;
        writer.send(message).await?;
        loop {
            match reader.next().await? {
                Some(FromTerminal::Outcome(outcome)) => return Ok(outcome),
                Some(_) => {}
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }
}

impl TerminalReader {
    /// The next message; `None` at the end. A dropped call may lose a part of a message.
    pub async fn next(&mut self) -> io::Result<Option<FromTerminal>> {
        FromTerminal::read(&mut self.0).await
    }
}

impl TerminalWriter {
    /// Sends a message.
    pub async fn send(&mut self, message: &ToTerminal) -> io::Result<()> {
        wire::write(&mut self.0, &message.encode()).await
    }
}
