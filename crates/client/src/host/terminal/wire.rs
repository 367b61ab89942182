//! Messages between a terminal host and its viewers: a kind (one byte), a length (four bytes, big-endian) and
//! a body. Bytes of the terminal are sent as they are, everything else as JSON.

use std::io;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::limits::TERMINAL_MESSAGE_BYTES_MAX;

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

impl TerminalSize {
    /// The smallest and the largest number of lines or columns.
    pub const RANGE: std::ops::RangeInclusive<u16> = 2..=500;

    /// A size within the limits.
    #[must_use]
    pub fn bounded(self) -> Self {
        let (min, max) = (*Self::RANGE.start(), *Self::RANGE.end());
        TerminalSize { rows: self.rows.clamp(min, max), cols: self.cols.clamp(min, max) }
    }

    /// The largest size that fits into both.
    #[must_use]
    pub fn smallest(self, other: Self) -> Self {
        TerminalSize { rows: self.rows.min(other.rows), cols: self.cols.min(other.cols) }
    }
}

/// The way in which the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TerminalExit {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalRole {
    /// Shows the screen and sends keys.
    Keys,
    /// Shows the screen only.
    Look,
    /// Sends prompts and interrupts, and shows nothing.
    Steer,
}

/// The result of a prompt or an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypingOutcome {
    /// It was typed.
    Typed,
    /// The input line is not on the screen: a dialog or a menu is open, or the program is not ready.
    NoInputLine,
    /// The input line contains text, or is in another mode than that for prompts.
    Draft,
    /// Keys came a moment ago, from a person or for the prompt before.
    JustTyped,
}

/// A message to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToTerminal {
    /// The first message: what the connection is for, and the size of the viewer.
    Hello(TerminalRole, Option<TerminalSize>),
    /// Keys.
    Keys(Vec<u8>),
    /// The viewer has this size now; without one it shows whatever there is.
    Size(Option<TerminalSize>),
    /// A prompt to type, once.
    Prompt(String),
    /// Esc, if the input line is on the screen.
    Interrupt,
    /// The viewer is back from its own suspension: the program continues.
    Continue,
}

/// A message of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromTerminal {
    /// Bytes for the terminal.
    Output(Vec<u8>),
    /// Bytes that draw the whole screen anew.
    Redraw(Vec<u8>),
    /// The terminal has this size now.
    Size(TerminalSize),
    /// The result of a prompt or an interrupt.
    Outcome(TypingOutcome),
    /// The program has suspended itself.
    Suspended,
    /// The program has ended.
    Exited(TerminalExit),
}

#[derive(Serialize, Deserialize)]
struct Hello {
    role: TerminalRole,
    size: Option<TerminalSize>,
}

impl ToTerminal {
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            ToTerminal::Hello(role, size) => json(b'h', &Hello { role: *role, size: *size }),
            ToTerminal::Keys(bytes) => frame(b'k', bytes),
            ToTerminal::Size(size) => json(b's', size),
            ToTerminal::Prompt(text) => frame(b'p', text.as_bytes()),
            ToTerminal::Interrupt => frame(b'i', b""),
            ToTerminal::Continue => frame(b'c', b""),
        }
    }

    /// Reads the next message; `None` at the end of the connection.
    pub(super) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let Some((kind, body)) = read_frame(from).await? else { return Ok(None) };
        let message = match kind {
            b'h' => {
                let Hello { role, size } = serde_json::from_slice(&body)?;
                ToTerminal::Hello(role, size)
            }
            b'k' => ToTerminal::Keys(body),
            b's' => ToTerminal::Size(serde_json::from_slice(&body)?),
            b'p' => ToTerminal::Prompt(String::from_utf8(body).map_err(|_| invalid())?),
            b'i' => ToTerminal::Interrupt,
            b'c' => ToTerminal::Continue,
            _ => return Err(invalid()),
        };
        Ok(Some(message))
    }
}

impl FromTerminal {
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            FromTerminal::Output(bytes) => frame(b'o', bytes),
            FromTerminal::Redraw(bytes) => frame(b'r', bytes),
            FromTerminal::Size(size) => json(b's', size),
            FromTerminal::Outcome(outcome) => json(b'a', outcome),
            FromTerminal::Suspended => frame(b'z', b""),
            FromTerminal::Exited(exit) => json(b'x', exit),
        }
    }

    /// Reads the next message; `None` at the end of the connection.
    pub(super) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let Some((kind, body)) = read_frame(from).await? else { return Ok(None) };
        let message = match kind {
            b'o' => FromTerminal::Output(body),
            b'r' => FromTerminal::Redraw(body),
            b's' => FromTerminal::Size(serde_json::from_slice(&body)?),
            b'a' => FromTerminal::Outcome(serde_json::from_slice(&body)?),
            b'z' => FromTerminal::Suspended,
            b'x' => FromTerminal::Exited(serde_json::from_slice(&body)?),
            _ => return Err(invalid()),
        };
        Ok(Some(message))
    }
}

pub(super) async fn write(to: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> io::Result<()> {
    to.write_all(message).await?;
    to.flush().await
}

async fn read_frame(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut kind = [0];
    if from.read(&mut kind).await? == 0 {
        return Ok(None);
    }
    let bytes = from.read_u32().await?;
    if bytes > TERMINAL_MESSAGE_BYTES_MAX {
        return Err(invalid());
    }
    // The buffer grows with what comes, not with what is announced.
    let mut body = Vec::new();
    from.take(bytes.into()).read_to_end(&mut body).await?;
    if body.len() as u64 != u64::from(bytes) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((kind[0], body)))
}

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(5 + body.len());
    frame.push(kind);
    frame.extend(bytes.to_be_bytes());
    frame.extend(body);
    frame
}

fn json(kind: u8, body: &impl Serialize) -> Vec<u8> {
    // These values always encode.
    frame(kind, &serde_json::to_vec(body).unwrap_or_default())
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message of the terminal host cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_message_is_read_as_it_was_written() {
        let size = TerminalSize { rows: 24, cols: 80 };
        let sent = [
            ToTerminal::Hello(TerminalRole::Look, Some(size)),
            ToTerminal::Keys(b"\x1b[A\0".to_vec()),
            ToTerminal::Size(None),
            ToTerminal::Prompt("zwei\nZeilen".to_owned()),
            ToTerminal::Interrupt,
            ToTerminal::Continue,
        ];
        let bytes: Vec<u8> = sent.iter().flat_map(ToTerminal::encode).collect();
        let mut rest = bytes.as_slice();
        for message in sent {
            assert_eq!(ToTerminal::read(&mut rest).await.unwrap(), Some(message));
        }
        assert_eq!(ToTerminal::read(&mut rest).await.unwrap(), None);
        let sent = [
            FromTerminal::Output(vec![0xff; 3]),
            FromTerminal::Redraw(Vec::new()),
            FromTerminal::Size(size),
            FromTerminal::Outcome(TypingOutcome::Draft),
            FromTerminal::Suspended,
            FromTerminal::Exited(TerminalExit { code: None, signal: Some(9) }),
        ];
        let bytes: Vec<u8> = sent.iter().flat_map(FromTerminal::encode).collect();
        let mut rest = bytes.as_slice();
        for message in sent {
            assert_eq!(FromTerminal::read(&mut rest).await.unwrap(), Some(message));
        }
    }

    #[tokio::test]
    async fn broken_messages_are_errors() {
        for broken in
            [&b"k\0\0\0\x05abc"[..], b"k\xff\xff\xff\xff", b"?\0\0\0\0", b"h\0\0\0\x02{}", b"p\0\0\0\x01\xff"]
        {
            assert!(ToTerminal::read(&mut &*broken).await.is_err(), "{broken:?}");
        }
    }
}
