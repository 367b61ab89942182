//! Server-sent events: messages of a stream, and the stream that connects again.

use std::time::Duration;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::error::{Error, ErrorKind, Retry};
use crate::server::{RemoteBody, RemoteServer, after};

/// Upper bound of a message's length: an event wraps a line of the CLI, which may have 64 MiB.
const MESSAGE_BYTES_MAX: usize = 66 << 20;

/// End of a message.
const END: &[u8] = b"\n\n";

/// One message of a stream. A heartbeat has no name and no data.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SseMessage {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

/// Splits the bytes of a stream into messages.
#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    read: Vec<u8>,
    /// Number of bytes without the end of a message.
    searched: usize,
}

/// A stream of messages that connects again when its connection is lost.
pub(crate) struct SseStream {
    server: RemoteServer,
    state: SseState,
    /// Number of connections in a row, and of attempts, that brought nothing.
    pub(crate) attempts: u32,
    /// True if the lost connection was reported.
    is_lost: bool,
}

impl std::fmt::Debug for SseStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SseStream").field("attempts", &self.attempts).finish_non_exhaustive()
    }
}

enum SseState {
    /// Waits until it may connect.
    Waiting(Instant),
    Connecting(BoxFuture<'static, Result<RemoteBody, Error>>),
    Open {
        body: RemoteBody,
        decoder: SseDecoder,
        heard: Instant,
    },
}

/// An update of a stream.
pub(crate) enum SseUpdate {
    /// A connection was made.
    Connected,
    Message(SseMessage),
    /// The connection was lost, or could not be made. It is made again. Reported once.
    Lost(Error),
}

impl SseDecoder {
    /// Takes the first complete message.
    fn take(&mut self) -> Option<SseMessage> {
        let found = self.read.get(self.searched..)?.windows(END.len()).position(|window| window == END);
        let Some(end) = found else {
            // The first byte of the end may be there.
            self.searched = self.read.len().saturating_sub(END.len() - 1);
            return None;
        };
        let rest = self.read.split_off(self.searched + end + END.len());
        let whole = std::mem::replace(&mut self.read, rest);
        self.searched = 0;
        Some(SseMessage::parse(&String::from_utf8_lossy(&whole)))
    }

    /// Adds bytes; false if the message is too long.
    fn add(&mut self, bytes: &Bytes) -> bool {
        let fits = self.read.len() + bytes.len() <= MESSAGE_BYTES_MAX;
        if fits {
            self.read.extend_from_slice(bytes);
        }
        fits
    }
}

impl SseMessage {
    fn parse(text: &str) -> Self {
        let mut message = SseMessage::default();
        for line in text.split('\n') {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut message.name),
                "id" => message.id = Some(value.to_owned()),
                "data" => {
                    if !message.data.is_empty() {
                        message.data.push('\n');
                    }
                    message.data.push_str(value);
                }
                // Comments and `retry`.
                _ => {}
            }
        }
        message
    }
}

impl SseStream {
    pub(crate) fn new(server: &RemoteServer) -> Self {
        let state = SseState::Waiting(Instant::now());
        SseStream { server: server.clone(), state, attempts: 0, is_lost: false }
    }

    /// The next update of the stream at `path`, which is asked for each connection. Cancel safe: what it
    /// waits for is kept. After an error the next call connects again.
    pub(crate) async fn next(&mut self, path: impl Fn() -> String) -> Result<SseUpdate, Error> {
        loop {
            let lost = match &mut self.state {
                SseState::Waiting(until) => {
                    sleep_until(*until).await;
                    self.attempts = self.attempts.saturating_add(1);
                    let (server, path) = (self.server.clone(), path());
                    self.state = SseState::Connecting(Box::pin(async move { server.read(&path).await }));
                    continue;
                }
                SseState::Connecting(connecting) => match connecting.await {
                    Ok(body) => {
                        let decoder = SseDecoder::default();
                        self.state = SseState::Open { body, decoder, heard: Instant::now() };
                        self.is_lost = false;
                        return Ok(SseUpdate::Connected);
                    }
                    Err(error) => error,
                },
                SseState::Open { body, decoder, heard } => {
                    if let Some(message) = decoder.take() {
                        return Ok(SseUpdate::Message(message));
                    }
                    // The deadline stands, however often this call is dropped and made again.
                    let deadline = after(*heard, self.server.options().silence_max);
                    match timeout_at(deadline, body.chunk()).await {
                        Ok(Ok(Some(bytes))) if decoder.add(&bytes) => {
                            *heard = Instant::now();
                            continue;
                        }
                        Ok(Ok(Some(_))) => cut("an event is too long"),
                        Ok(Ok(None)) => cut("the server closed the connection"),
                        Ok(Err(error)) => error,
                        Err(_) => cut("the server sends nothing"),
                    }
                }
            };
            self.reconnect_after(lost.wait().unwrap_or_default());
            if lost.retry() == Retry::Never {
                return Err(lost);
            }
            if !std::mem::replace(&mut self.is_lost, true) {
                return Ok(SseUpdate::Lost(lost));
            }
        }
    }

    /// Makes the connection again: at once after one that brought something, else after a pause that is twice
    /// as long each time.
    pub(crate) fn reconnect(&mut self) {
        self.reconnect_after(Duration::ZERO);
    }

    fn reconnect_after(&mut self, at_least: Duration) {
        let options = self.server.options();
        let pause = match self.attempts {
            0 => Duration::ZERO,
            attempts => {
                let factor = 2_u32.saturating_pow(attempts - 1);
                options.pause_first.saturating_mul(factor).min(options.pause_max)
            }
        };
        self.state = SseState::Waiting(after(Instant::now(), pause.max(at_least)));
    }

    /// Notes that the connection brought something.
    pub(crate) fn succeeded(&mut self) {
        self.attempts = 0;
    }
}

/// The error of a lost connection.
pub(crate) fn cut(why: &str) -> Error {
    Error::new(ErrorKind::Cut, why, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_wherever_the_stream_was_cut() {
        let whole = b": \nid: e:1\n\nid: e:2\nevent: TextChunk\ndata: {\"a\":\ndata: 1}\n\nretry: 7\n\n";
        for cut in 0..whole.len() {
            let (mut decoder, mut messages) = (SseDecoder::default(), Vec::new());
            for part in [&whole[..cut], &whole[cut..]] {
                assert!(decoder.add(&Bytes::copy_from_slice(part)));
                messages.extend(std::iter::from_fn(|| decoder.take()));
            }
            let names: Vec<_> = messages.iter().map(|message| message.name.as_str()).collect();
            assert_eq!(names, ["", "TextChunk", ""], "{cut}");
            assert_eq!(messages[0].id.as_deref(), Some("e:1"));
            assert_eq!(messages[1].data, "{\"a\":\n1}");
            assert_eq!(messages[1].id.as_deref(), Some("e:2"));
        }
    }
}
