//! An in-memory transport: for tests, and for programs that bring their own agent.

use std::io;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use tidings_protocol::{DecodeError, Frame};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Exit, Incoming, Link, Outgoing, Stop, Transport};
use crate::error::Error;
use crate::limits::EVENTS_AHEAD_MAX;
use crate::options::Launch;

/// The end for the session; see [`pair`].
#[derive(Debug)]
pub struct Memory {
    link: Link,
}

/// The end that plays `claude`.
#[derive(Debug)]
pub struct Peer {
    lines: mpsc::Receiver<String>,
    events: mpsc::Sender<Incoming>,
    terminated: CancellationToken,
    killed: CancellationToken,
}

/// A sender of a [`Peer`], for use in another task.
#[derive(Debug, Clone)]
pub struct PeerSender(mpsc::Sender<Incoming>);

/// Creates two connected ends.
pub fn pair() -> (Memory, Peer) {
    let (line_sender, lines) = mpsc::channel(EVENTS_AHEAD_MAX);
    let (events, incoming) = mpsc::channel(EVENTS_AHEAD_MAX);
    let (terminated, killed) = (CancellationToken::new(), CancellationToken::new());
    let stop = Signals { terminated: terminated.clone(), killed: killed.clone() };
    let outgoing = Box::new(Sender(Some(line_sender)));
    let link =
        Link { incoming: incoming.into(), outgoing, stop: Arc::new(stop), program: None, resumed: None };
    (Memory { link }, Peer { lines, events, terminated, killed })
}

impl Transport for Memory {
    fn open(self: Box<Self>, _launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        Box::pin(async move { Ok(self.link) })
    }
}

impl Peer {
    /// The next line that the session wrote; `None` once it has ended its input.
    pub async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// The next line as a frame; `None` once the session has ended its input.
    pub async fn frame(&mut self) -> Option<Result<Frame, DecodeError>> {
        Some(Frame::from_json(&self.line().await?))
    }

    /// A separate sender of this peer.
    pub fn voice(&self) -> PeerSender {
        PeerSender(self.events.clone())
    }

    /// Sends a line, which need not be a frame.
    pub async fn say(&self, line: &str) {
        self.voice().say(line).await;
    }

    /// Ends, as a process does.
    pub async fn exit(self, exit: Exit) {
        // The session may have ended already.
        drop(self.events.send(Incoming::Exit(exit)).await);
    }

    /// Waits until the session terminates this end, as SIGTERM does.
    pub async fn terminated(&self) {
        self.terminated.cancelled().await;
    }

    /// Waits until the session kills this end, as SIGKILL does.
    pub async fn killed(&self) {
        self.killed.cancelled().await;
    }
}

impl PeerSender {
    /// Sends a line, which need not be a frame.
    pub async fn say(&self, line: &str) {
        let mut lines = super::Lines::new(tidings_protocol::ndjson::LINE_BYTES_MAX);
        lines.push(line.as_bytes());
        lines.push(b"\n");
        while let Some(event) = lines.next() {
            // The session may have ended already.
            drop(self.0.send(event).await);
        }
    }

    /// Sends a line of stderr.
    pub async fn complain(&self, line: &str) {
        drop(self.0.send(Incoming::Stderr(line.to_owned())).await);
    }

    /// Ends, as a process does.
    pub async fn exit(&self, exit: Exit) {
        drop(self.0.send(Incoming::Exit(exit)).await);
    }
}

#[derive(Debug)]
struct Sender(Option<mpsc::Sender<String>>);

impl Outgoing for Sender {
    fn send<'a>(&'a mut self, line: &'a str) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            let sender = self.0.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
            sender.send(line.to_owned()).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        })
    }

    fn end(&mut self) -> BoxFuture<'_, io::Result<()>> {
        self.0 = None;
        Box::pin(async { Ok(()) })
    }

    fn takes_flat_control(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Signals {
    terminated: CancellationToken,
    killed: CancellationToken,
}

impl Stop for Signals {
    fn terminate(&self) {
        self.terminated.cancel();
    }

    fn kill(&self) {
        self.killed.cancel();
    }
}
