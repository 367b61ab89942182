//! The events of a session as they come, over connections that break.

use std::time::Duration;

use reqwest::{Method, Response};
use tidings_bridge::{Code, Error};
use tokio::sync::mpsc::{Receiver, channel};

use crate::remote::Remote;

/// The pause after a second connection that has brought nothing; the next ones are twice as long each.
const PAUSE_FIRST: Duration = Duration::from_millis(500);

/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How long a server may be silent. It gives a sign of life every fifteen seconds.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// The longest event: one wraps a line of the CLI, which may have 64 MiB.
const EVENT_BYTES_MAX: usize = 66 << 20;

/// What may wait to be shown. The server waits when it is this far ahead of the screen.
const HEARD_MAX: usize = 64;

/// What is heard.
pub(super) enum Heard {
    /// An event of the dialect `native`, and its place.
    Event { cursor: String, json: String },
    /// The connection is broken, and is being made again.
    Lost(String),
    /// It is there again.
    Back,
    /// The session was deleted.
    Over,
}

/// A session, from a place on.
pub(super) struct Stream {
    remote: Remote,
    handle: i64,
    cursor: String,
    /// Whether somebody here can answer what is asked.
    may_answer: bool,
    connection: Option<(Response, Vec<u8>)>,
    /// How long it waits before the next connection; none after an event.
    pause: Duration,
    /// Whether it was said that the connection is broken.
    is_lost: bool,
}

/// One block of the stream.
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

    /// Listens on a task of its own, so that whoever is busy with keys does not break a connection that is being made.
    pub(super) fn start(mut self) -> Receiver<anyhow::Result<Heard>> {
        let (sender, receiver) = channel(HEARD_MAX);
        drop(tokio::spawn(async move {
            loop {
                let heard = self.next().await;
                let is_last = matches!(heard, Err(_) | Ok(Heard::Over));
                if sender.send(heard).await.is_err() || is_last {
                    return;
                }
            }
        }));
        receiver
    }

    async fn next(&mut self) -> anyhow::Result<Heard> {
        loop {
            let Some((response, read)) = &mut self.connection else {
                self.wait().await;
                match self.connect().await {
                    Ok(()) if std::mem::take(&mut self.is_lost) => return Ok(Heard::Back),
                    Ok(()) => {}
                    Err(error) => {
                        if let Some(heard) = self.broken(error)? {
                            return Ok(heard);
                        }
                    }
                }
                continue;
            };
            if let Some(block) = Block::take(read) {
                if let Some(heard) = self.hear(block)? {
                    return Ok(heard);
                }
                continue;
            }
            let lost = match tokio::time::timeout(SILENCE_MAX, response.chunk()).await {
                Ok(Ok(Some(bytes))) if read.len() + bytes.len() <= EVENT_BYTES_MAX => {
                    read.extend_from_slice(&bytes);
                    continue;
                }
                Ok(Ok(Some(_))) => "an event is too long".to_owned(),
                Ok(Ok(None)) => "the server has ended it".to_owned(),
                Ok(Err(error)) => error.without_url().to_string(),
                Err(_) => "the server is silent".to_owned(),
            };
            self.connection = None;
            if !std::mem::replace(&mut self.is_lost, true) {
                return Ok(Heard::Lost(lost));
            }
        }
    }

    async fn connect(&mut self) -> anyhow::Result<()> {
        let mut path = format!("/v1/sessions/{}/events?after={}", self.handle, self.cursor);
        if !self.may_answer {
            path.push_str("&answers=false");
        }
        // A stream has no end to wait for.
        let request = self.remote.request(Method::GET, &path).timeout(Duration::MAX);
        let response = self.remote.send(request).await?;
        self.connection = Some((response, Vec::new()));
        Ok(())
    }

    /// Whoever answers and then says nothing but that it cannot go on is asked less and less often as well.
    async fn wait(&mut self) {
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).clamp(PAUSE_FIRST, PAUSE_MAX);
    }

    /// A connection could not be made: what may work later is tried again.
    fn broken(&mut self, error: anyhow::Error) -> anyhow::Result<Option<Heard>> {
        let code = error.downcast_ref::<Error>().map(Error::code);
        match code {
            Some(Code::NotFound | Code::Gone) => return Ok(Some(Heard::Over)),
            Some(code) if !code.is_retryable() => return Err(error),
            _ => {}
        }
        let was_lost = std::mem::replace(&mut self.is_lost, true);
        Ok((!was_lost).then(|| Heard::Lost(error.to_string())))
    }

    fn hear(&mut self, block: Block) -> anyhow::Result<Option<Heard>> {
        let Block { name, id, data } = block;
        match name.as_str() {
            "" => {}
            "subscribed" => return Ok(None),
            "resync" if data.contains("\"deleted\"") => return Ok(Some(Heard::Over)),
            // It comes back from where it is.
            "resync" | "problem" => self.connection = None,
            "revoked" => {
                let hint = "ask for another credential";
                return Err(Error::new(Code::Unauthorized, "The credential counts no longer", hint).into());
            }
            _ => {
                let Some(cursor) = id else { return Ok(None) };
                self.cursor.clone_from(&cursor);
                self.pause = Duration::ZERO;
                return Ok(Some(Heard::Event { cursor, json: data }));
            }
        }
        Ok(None)
    }
}

impl Block {
    /// The first whole block of what was read.
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
                // Signs of life, and how long to wait.
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

    /// A server that answers each connection with one of these and closes it.
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
    async fn a_server_that_has_nothing_but_problems_is_asked_less_and_less_often() {
        const PROBLEM: &str = "event: problem\ndata: {}";
        let address =
            server(&[PROBLEM, "id: e:1\nevent: System\ndata: {}", PROBLEM, PROBLEM, "event: revoked"]);
        let mut stream = Stream::new(Remote::at(&address, "none").unwrap(), 1, "e:0".to_owned(), true);
        while !matches!(stream.next().await.unwrap(), Heard::Event { .. }) {}
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
