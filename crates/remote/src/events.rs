//! Events of a session, from a cursor.

use futures_core::Stream;
use serde::Deserialize;
use tidings_api::{Code, ResyncReason, Subscribed};
use tidings_protocol::ui::UiMessage;

use crate::error::{Error, ErrorKind};
use crate::route::{Route, segment};
use crate::server::RemoteServer;
use crate::sse::{SseMessage, SseStream, SseUpdate};

/// The events of a session after a cursor, each once and in order, whatever happens to the connection and to
/// the server.
#[derive(Debug)]
pub struct SessionEvents {
    stream: SseStream,
    path: String,
    cursor: Option<String>,
    answers: Answering,
    is_over: bool,
}

/// Presence of a person who answers requests, which the policy `unattended` takes into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answering {
    /// Requests of the session are answered with this client.
    #[default]
    Present,
    /// This client only reads.
    Absent,
}

/// An update of [`SessionEvents`].
#[derive(Debug)]
#[non_exhaustive]
pub enum SessionUpdate {
    /// A connection was made, for the first time or again. The verdict says how the events that follow
    /// continue those before: `ok` with the next one, or without a cursor the oldest stored one; `gap` with a
    /// later one, because those between were removed; `reset` with the oldest stored one, because the cursor
    /// was of another epoch.
    Subscribed(Box<Subscribed>),
    /// An event.
    Event(SessionEvent),
    /// The connection was lost, or could not be made. It is made again.
    Lost(Error),
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionEvent {
    /// Cursor of the event: a program that stores it can continue after it.
    pub cursor: String,
    /// Name of the event.
    pub name: String,
    /// The event as JSON, as the server has sent it.
    pub json: String,
}

impl SessionEvent {
    /// Decodes the event; `None` if only later versions know it.
    pub fn decode(&self) -> Option<UiMessage> {
        serde_json::from_str(&self.json).ok()
    }
}

impl SessionEvents {
    pub(crate) fn new(server: &RemoteServer, session: &str, cursor: Option<String>) -> Self {
        let path = format!("/v1/sessions/{}/events", segment(session));
        let (stream, answers) = (SseStream::new(server), Answering::default());
        SessionEvents { stream, path, cursor, answers, is_over: false }
    }

    /// The same events for a client that only reads, or does not.
    #[must_use]
    pub fn answering(self, answers: Answering) -> Self {
        SessionEvents { answers, ..self }
    }

    /// Cursor of the last event that was returned.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// The next update; `None` once the session was deleted. Cancel safe: an event is lost or repeated
    /// neither when the future is dropped nor when the connection is.
    ///
    /// Only what no later attempt changes is an error, such as a credential that was revoked.
    pub async fn next(&mut self) -> Result<Option<SessionUpdate>, Error> {
        while !self.is_over {
            let (path, cursor, answers) = (&self.path, &self.cursor, self.answers);
            let route = || {
                let only_reads = (answers == Answering::Absent).then_some(false);
                let route = Route::new(path).with("after", cursor.as_deref()).with("answers", only_reads);
                route.into_text()
            };
            match self.stream.next(route).await {
                Ok(SseUpdate::Connected) => {}
                Ok(SseUpdate::Lost(error)) => return Ok(Some(SessionUpdate::Lost(error))),
                Ok(SseUpdate::Message(message)) => {
                    if let Some(update) = self.receive(message)? {
                        return Ok(Some(update));
                    }
                }
                Err(error) if error.is_gone() => self.is_over = true,
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The updates as a stream, which ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<SessionUpdate, Error>> + Send {
        futures_util::stream::unfold(Some(self), async |events| {
            let mut events = events?;
            match events.next().await {
                Ok(update) => Some((Ok(update?), Some(events))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    fn receive(&mut self, message: SseMessage) -> Result<Option<SessionUpdate>, Error> {
        let SseMessage { name, id, data } = message;
        match name.as_str() {
            // A heartbeat has the cursor after the events that were sent.
            "" => self.cursor = id.or(self.cursor.take()),
            "subscribed" => {
                let subscribed: Subscribed = serde_json::from_str(&data).map_err(|error| {
                    let message = format!("The subscription is not understood: {error}");
                    Error::new(ErrorKind::Response, message, "update this program or the server")
                })?;
                // From here on the verdict is known: the same cursor would bring the same verdict again.
                self.cursor = Some(subscribed.from.clone());
                return Ok(Some(SessionUpdate::Subscribed(Box::new(subscribed))));
            }
            "resync" => {
                #[derive(Deserialize)]
                struct Resync {
                    reason: ResyncReason,
                }
                let reason = serde_json::from_str::<Resync>(&data).map(|resync| resync.reason);
                self.is_over = matches!(reason, Ok(ResyncReason::Deleted));
                self.stream.reconnect();
            }
            "problem" => self.stream.reconnect(),
            "revoked" => return Err(revoked()),
            _ => {
                // Later versions may send other messages. Events have a cursor.
                let Some(cursor) = id else { return Ok(None) };
                self.cursor = Some(cursor.clone());
                self.stream.succeeded();
                return Ok(Some(SessionUpdate::Event(SessionEvent { cursor, name, json: data })));
            }
        }
        Ok(None)
    }
}

/// The error of a stream whose credential was revoked.
pub(crate) fn revoked() -> Error {
    let hint = "create a new one with `tidings token create`";
    Error::new(ErrorKind::Refused(Code::Unauthorized), "The credential was revoked", hint)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;
    use crate::server::RemoteOptions;

    /// Starts a server that answers each connection with one of `answers` and closes it.
    fn server(answers: &'static [&'static str]) -> RemoteServer {
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
        let options = RemoteOptions { pause_first: Duration::from_millis(1), ..RemoteOptions::default() };
        RemoteServer::at(&address, "none").unwrap().with(options)
    }

    #[tokio::test]
    async fn reconnects_slow_down_while_a_server_sends_only_problems() {
        const PROBLEM: &str = "event: problem\ndata: {}";
        let server =
            server(&[PROBLEM, "id: e:1\nevent: System\ndata: {}", PROBLEM, PROBLEM, "event: revoked"]);
        let mut events = SessionEvents::new(&server, "1", Some("e:0".to_owned()));
        while !matches!(events.next().await.unwrap(), Some(SessionUpdate::Event(_))) {}
        assert_eq!((events.stream.attempts, events.cursor()), (0, Some("e:1")), "an event came");
        while events.next().await.is_ok() {}
        assert_eq!(events.stream.attempts, 3, "connections without an event, the last one refused");
    }
}
