//! A connection to a host that holds a terminal.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::found::{Address, TerminalHost};
use crate::host::old_wires;
use crate::host::wire::{
    FromHost, Message, Reader, TerminalRole, TerminalSize, ToHost, TypingOutcome, VERSION, View,
};
use crate::limits::HOST_BYTES_MAX;

/// Time for a program to draw its screen anew after a key.
const REDRAWN_WITHIN: Duration = Duration::from_secs(1);

/// The side of a connection that receives.
#[derive(Debug)]
pub struct TerminalReader(Incoming);

#[derive(Debug)]
enum Incoming {
    Current(Reader<OwnedReadHalf>),
    Old(OwnedReadHalf),
}

/// The side of a connection that sends.
#[derive(Debug)]
pub struct TerminalWriter {
    to: OwnedWriteHalf,
    encode: Encode,
}

type Encode = fn(&Message<ToHost>) -> Vec<u8>;

impl TerminalHost {
    /// Connects to the host.
    pub async fn attach(
        &self,
        role: TerminalRole,
        size: Option<TerminalSize>,
    ) -> io::Result<(TerminalReader, TerminalWriter)> {
        self.open(&[], role, size).await
    }

    /// Connects to the host, and sends these messages before the first one of a viewer.
    pub(super) async fn open(
        &self,
        before: &[Message<ToHost>],
        role: TerminalRole,
        size: Option<TerminalSize>,
    ) -> io::Result<(TerminalReader, TerminalWriter)> {
        let stream = self.connect()?;
        stream.set_nonblocking(true)?;
        let (read, to) = UnixStream::from_std(stream)?.into_split();
        let (incoming, secret, encode) = match &self.address {
            Address::Folder(_, secret) => {
                let reader = Reader::new(read, HOST_BYTES_MAX);
                (Incoming::Current(reader), secret.clone(), Message::encode as Encode)
            }
            Address::Old(_) => (Incoming::Old(read), String::new(), old_wires::encode as Encode),
        };
        let mut writer = TerminalWriter { to, encode };
        for message in before {
            writer.send(message).await?;
        }
        writer.send(&Message::new(ToHost::View(View { version: VERSION, secret, role, size }))).await?;
        Ok((TerminalReader(incoming), writer))
    }

    /// Types a prompt, if the screen allows it now.
    pub async fn prompt(&self, text: &str) -> io::Result<TypingOutcome> {
        self.steer(&Message::with(ToHost::Prompt, text)).await
    }

    /// Types Esc, if the screen allows it now.
    pub async fn interrupt(&self) -> io::Result<TypingOutcome> {
        self.steer(&Message::new(ToHost::Interrupt)).await
    }

    /// Types Esc, whatever is on the screen.
    pub async fn close_screen(&self) -> io::Result<()> {
        let (mut reader, mut writer) = self.attach(TerminalRole::Keys, None).await?;
        writer.send(&Message::with(ToHost::Keys, "\x1b")).await?;
        // The host takes no more keys from a connection that has ended.
        let drawn = async {
            while let Ok(Some(message)) = reader.next().await
                && !matches!(message.head, FromHost::Out { .. })
            {}
        };
        drop(tokio::time::timeout(REDRAWN_WITHIN, drawn).await);
        Ok(())
    }

    async fn steer(&self, message: &Message<ToHost>) -> io::Result<TypingOutcome> {
        let (mut reader, mut writer) = self.attach(TerminalRole::Steer, None).await?;
        writer.send(message).await?;
        while let Some(message) = reader.next().await? {
            if let FromHost::Typed { outcome } = message.head {
                return Ok(outcome);
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

impl TerminalReader {
    /// The next message; `None` at the end. A dropped call may lose a part of a message.
    pub async fn next(&mut self) -> io::Result<Option<Message<FromHost>>> {
        match &mut self.0 {
            Incoming::Current(reader) => reader.next().await,
            Incoming::Old(from) => old_wires::read(from).await,
        }
    }
}

impl TerminalWriter {
    /// Sends a message.
    pub async fn send(&mut self, message: &Message<ToHost>) -> io::Result<()> {
        self.to.write_all(&(self.encode)(message)).await
    }
}
