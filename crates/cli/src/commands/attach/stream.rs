//! Subscription to a session's events that reconnects after a lost connection.

use std::time::Duration;

use reqwest::{Method, Response};
use tidings_api::Code;
use tidings_sessions::Error;
use tokio::sync::mpsc::{Receiver, channel};

use crate::commands::remote::Remote;

/// Pause before the second reconnect in a row without an event; each further pause is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(500);

/// Upper bound of the pause.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Silence after which the connection counts as lost. The server sends a keep-alive every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// Upper bound of an event's length: an event wraps a line of the CLI, which may have 64 MiB.
const EVENT_BYTES_MAX: usize = 66 << 20;

/// Capacity of the channel to the screen. When it is full, the stream is not read and the server waits.
const UPDATES_MAX: usize = 64;

/// An update from the stream.
pub(super) enum StreamUpdate {
    /// An event of the dialect `native`, and its cursor.
    Event { cursor: String, json: String },
    /// The connection was lost, for this reason; reconnecting.
    Disconnected(String),
    /// The connection is back.
    Reconnected,
    /// The session was deleted.
    Deleted,
}

/// The events of a session after a cursor.
pub(super) struct Stream {
    remote: Remote,
    handle: i64,
    cursor: String,
    /// True if this client can answer requests.
    may_answer: bool,
    connection: Option<(Response, Vec<u8>)>,
    /// Pause before the next connection; zero after an event.
    pause: Duration,
    /// True if the lost connection was reported.
    is_lost: bool,
}

/// One message of the SSE stream.
#[derive(Debug, Default, PartialEq, Eq)]
struct Block {
    name: String,
    id: Option<String>,
    data: String,
}

impl Stream {
    pub(super) fn new(remote: Remote, handle: i64, cursor: String, may_answer: bool) -> Self {
        let (connection, pause) = (None, Duration::ZERO);
        Stream { remote, handle, cursor, may_answer, connection, pause, is_lost: false }
    }

    /// Reads in a separate task, so that key presses do not cancel a connection attempt.
    pub(super) fn start(mut self) -> Receiver<anyhow::Result<StreamUpdate>> {
        let (sender, receiver) = channel(UPDATES_MAX);
        drop(tokio::spawn(async move {
            loop {
                let update = self.next().await;
                let is_last = matches!(update, Err(_) | Ok(StreamUpdate::Deleted));
                if sender.send(update).await.is_err() || is_last {
                    return;
                }
            }
        }));
        receiver
    }

    async fn next(&mut self) -> anyhow::Result<StreamUpdate> {
        loop {
            let Some((response, read)) = &mut self.connection else {
                self.wait().await;
                match self.connect().await {
                    Ok(()) if std::mem::take(&mut self.is_lost) => return Ok(StreamUpdate::Reconnected),
                    Ok(()) => {}
                    Err(error) => {
                        if let Some(update) = self.connect_failed(error)? {
                            return Ok(update);
                        }
                    }
                }
                continue;
            };
            if let Some(block) = Block::take(read) {
                if let Some(update) = self.handle_block(block)? {
                    return Ok(update);
                }
                continue;
            }
            let lost = match tokio::time::timeout(SILENCE_MAX, response.chunk()).await {
                Ok(Ok(Some(bytes))) if read.len() + bytes.len() <= EVENT_BYTES_MAX => {
                    read.extend_from_slice(&bytes);
                    continue;
                }
                Ok(Ok(Some(_))) => "an event is too long".to_owned(),
                Ok(Ok(None)) => "the server closed the connection".to_owned(),
                Ok(Err(error)) => error.without_url().to_string(),
                Err(_) => "the server sends nothing".to_owned(),
            };
            self.connection = None;
            if !std::mem::replace(&mut self.is_lost, true) {
                return Ok(StreamUpdate::Disconnected(lost));
            }
        }
    }

    async fn connect(&mut self) -> anyhow::Result<()> {
        let mut path = format!("/v1/sessions/{}/events?after={}", self.handle, self.cursor);
        if !self.may_answer {
            path.push_str("&answers=false");
        }
        // No timeout, since the stream has no end.
        let request = self.remote.request(Method::GET, &path).timeout(Duration::MAX);
        let response = self.remote.send(request).await?;
        self.connection = Some((response, Vec::new()));
        Ok(())
    }

    /// Waits before the next connection, twice as long each time. Connections that bring no event count as
    /// failures too.
    async fn wait(&mut self) {
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).clamp(PAUSE_FIRST, PAUSE_MAX);
    }

    /// Handles a failed connection attempt: returns errors that are not worth a retry.
    fn connect_failed(&mut self, error: anyhow::Error) -> anyhow::Result<Option<StreamUpdate>> {
        let code = error.downcast_ref::<Error>().map(Error::code);
        match code {
            Some(Code::NotFound | Code::Gone) => return Ok(Some(StreamUpdate::Deleted)),
            Some(code) if !code.is_retryable() => return Err(error),
            _ => {}
        }
        let was_lost = std::mem::replace(&mut self.is_lost, true);
        Ok((!was_lost).then(|| StreamUpdate::Disconnected(error.to_string())))
    }

    fn handle_block(&mut self, block: Block) -> anyhow::Result<Option<StreamUpdate>> {
        let Block { name, id, data } = block;
        match name.as_str() {
            "" => {}
            "subscribed" => return Ok(None),
            "resync" if data.contains("\"deleted\"") => return Ok(Some(StreamUpdate::Deleted)),
            // Reconnect from the current cursor.
            "resync" | "problem" => self.connection = None,
            "revoked" => {
                let hint = "create a new one with `tidings token create`";
                return Err(Error::new(Code::Unauthorized, "The credential was revoked", hint).into());
            }
            _ => {
                let Some(cursor) = id else { return Ok(None) };
                self.cursor.clone_from(&cursor);
                self.pause = Duration::ZERO;
                return Ok(Some(StreamUpdate::Event { cursor, json: data }));
            }
        }
        Ok(None)
    }
}

impl Block {
    /// Takes the first complete block out of the buffer.
    fn take(read: &mut Vec<u8>) -> Option<Block> {
        let end = read.windows(2).position(|two| two == b"\n\n")?;
        let rest = read.split_off(end + 2);
        let whole = std::mem::replace(read, rest);
        let mut block = Block::default();
        for line in String::from_utf8_lossy(&whole).lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut block.name),
                "id" => block.id = Some(value.to_owned()),
                "data" => {
                    if !block.data.is_empty() {
                        block.data.push('\n');
                    }
                    block.data.push_str(value);
                }
                // Comments (keep-alive) and `retry`.
                _ => {}
            }
        }
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// Starts a server that answers each connection with one of `answers` and closes it.
    fn server(answers: &'static [&'static str]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let head = BufReader::new(stream.try_clone().unwrap()).lines();
                head.map_while(Result::ok).find(String::is_empty).unwrap();
                write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{answer}\n\n").unwrap();
            }
        });
        address
    }

    #[tokio::test]
    async fn reconnects_slow_down_while_a_server_sends_only_problems() {
        const PROBLEM: &str = "event: problem\ndata: {}";
        let address =
            server(&[PROBLEM, "id: e:1\nevent: System\ndata: {}", PROBLEM, PROBLEM, "event: revoked"]);
        let mut stream = Stream::new(Remote::at(&address, "none").unwrap(), 1, "e:0".to_owned(), true);
        while !matches!(stream.next().await.unwrap(), StreamUpdate::Event { .. }) {}
        assert_eq!(stream.pause, Duration::ZERO, "an event came");
        while stream.next().await.is_ok() {}
        assert_eq!(stream.pause, PAUSE_FIRST * 4, "three connections without an event, the last one refused");
    }

    #[test]
    fn blocks_are_found_wherever_the_stream_was_cut() {
        let whole = b": \nid: e:1\n\nid: e:2\nevent: TextChunk\ndata: {\"a\":\ndata: 1}\n\nretry: 7\n\n";
        for cut in 0..whole.len() {
            let (mut read, mut blocks) = (Vec::new(), Vec::new());
            for part in [&whole[..cut], &whole[cut..]] {
                read.extend_from_slice(part);
                blocks.extend(std::iter::from_fn(|| Block::take(&mut read)));
            }
            let names: Vec<_> = blocks.iter().map(|block| block.name.as_str()).collect();
            assert_eq!(names, ["", "TextChunk", ""], "{cut}");
            assert_eq!(blocks[1].data, "{\"a\":\n1}");
            assert_eq!(blocks[1].id.as_deref(), Some("e:2"));
        }
    }
}
