//! The tasks of one connection to a host: reading and writing.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_core::future::BoxFuture;
use tidings_protocol::{Frame, FrameRef, Kind};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::AttachReply;
use super::handle::{Outbound, Shared};
use crate::host::HostFolder;
use crate::host::wire::{FromHost, Message, Reader, ToHost};
use crate::limits::{
    EVENTS_AHEAD_MAX, HOST_ID_BYTES_MAX, HOST_LINES_AHEAD, HOST_LONG_LINE_BYTES, HOST_READ_BYTES,
};
use crate::transport::{Exit, Incoming, Lines, Link, Outgoing, Stop};

/// A connection after the greeting.
#[derive(Debug)]
pub(super) struct AttachedStream {
    pub(super) folder: HostFolder,
    pub(super) reader: Reader<OwnedReadHalf>,
    pub(super) write: OwnedWriteHalf,
}

pub(super) fn open(
    stream: AttachedStream,
    reply: AttachReply,
    shared: Arc<Shared>,
    line_bytes_max: usize,
) -> Link {
    let (events, incoming) = mpsc::channel(EVENTS_AHEAD_MAX);
    // Lines, two requests of each other kind, and some slack.
    let (messages, outbound) = mpsc::channel(HOST_LINES_AHEAD * 2);
    let resumed = reply.resumed();
    let stop = HostStop { shared: Arc::clone(&shared), pid: reply.hello.pid };
    drop(shared.hello.set(reply.hello.clone()));
    drop(shared.open.set(reply.open.iter().map(|(_, request)| request.clone()).collect()));
    drop(shared.messages.set(messages.clone()));
    *shared.silence() = Some(events.clone());
    let AttachedStream { folder, reader, write } = stream;
    drop(tokio::spawn(send(shared.acknowledged.subscribe(), shared.detached.clone(), write, outbound)));
    let inbound = Inbound::new(Arc::clone(&shared), folder, events, &reply, line_bytes_max);
    drop(tokio::spawn(inbound.run(reader, reply.open)));
    let outgoing = Box::new(LineSender { shared, messages: Some(messages) });
    Link { incoming, outgoing, stop: Arc::new(stop), program: None, resumed }
}

/// Reads the messages of the host.
struct Inbound {
    shared: Arc<Shared>,
    folder: HostFolder,
    events: mpsc::Sender<Incoming>,
    lines: Lines,
    line_bytes_max: u64,
    /// The offset up to which output of the CLI was received.
    received: u64,
    /// The offset up to which output was written before this connection; requests in it may have been
    /// answered.
    old: u64,
    /// The end offsets of open requests; `None` if the host does not remember all of them.
    open: Option<HashSet<u64>>,
}

/// The session is gone: its events are no longer received.
struct SessionGone;

impl Inbound {
    fn new(
        shared: Arc<Shared>,
        folder: HostFolder,
        events: mpsc::Sender<Incoming>,
        reply: &AttachReply,
        line_bytes_max: usize,
    ) -> Self {
        let hello = &reply.hello;
        let all = (hello.forgotten == 0).then(|| reply.open.iter().map(|(end, _)| *end).collect());
        Inbound {
            shared,
            folder,
            events,
            lines: Lines::starting_at(line_bytes_max, hello.after),
            line_bytes_max: line_bytes_max as u64,
            received: hello.after,
            old: hello.next,
            open: all,
        }
    }

    async fn run(mut self, mut reader: Reader<OwnedReadHalf>, open: Vec<(u64, Frame)>) {
        let detached = self.shared.detached.clone();
        tokio::select! {
            biased;
            () = detached.cancelled() => {}
            _ = self.read_messages(&mut reader, open) => *self.shared.silence() = None,
        }
        self.shared.end();
    }

    async fn read_messages(
        &mut self,
        reader: &mut Reader<OwnedReadHalf>,
        open: Vec<(u64, Frame)>,
    ) -> Result<(), SessionGone> {
        let after = self.lines.end();
        // Requests before the offset at which reading resumes are not received again.
        for (_, request) in open.into_iter().filter(|(end, _)| *end <= after) {
            self.emit(Incoming::from(request)).await?;
        }
        loop {
            // Any end of the connection: a killed host closes it in the middle of a message.
            let Ok(Some(message)) = reader.next::<FromHost>().await else { return self.gone().await };
            self.shared.received.fetch_add(1, Ordering::Relaxed);
            self.shared.is_behind.store(true, Ordering::Relaxed);
            match message.head {
                FromHost::Out { end } => self.out(&message.bytes, end).await?,
                FromHost::Stderr => {
                    let line = String::from_utf8_lossy(&message.bytes).into_owned();
                    self.emit(Incoming::Stderr(line)).await?;
                }
                FromHost::Wrote { id, .. } => self.wrote(&id),
                FromHost::Unwritten { id, message } => {
                    self.wrote(&id);
                    self.emit(Incoming::Stderr(format!("A line was not written to the agent: {message}")))
                        .await?;
                }
                FromHost::Exit { code, signal, .. } => {
                    if let Some(event) = self.lines.finish() {
                        self.line(event).await?;
                    }
                    return self.emit(Incoming::Exit(Exit { code, signal })).await;
                }
                FromHost::Pong { cli } => self.shared.complete_ping(cli),
                answer @ FromHost::Pids { .. } => self.shared.complete(answer),
                FromHost::Superseded { owner } => {
                    let text = format!("Another bridge has taken over this session: {owner}");
                    self.emit(Incoming::Stderr(text)).await?;
                    return self.emit(Incoming::Exit(Exit::default())).await;
                }
                _ => {}
            }
            self.shared.is_behind.store(false, Ordering::Relaxed);
        }
    }

    /// Handles the loss of the host, which also ends the CLI. Output that the host kept and did not send is
    /// read from its spool.
    async fn gone(&mut self) -> Result<(), SessionGone> {
        // Requests that are found now can no longer be answered.
        (self.old, self.open) = (u64::MAX, Some(HashSet::new()));
        let remains = self.folder.remains().ok();
        let mut buffer = vec![0; HOST_READ_BYTES];
        while let Some(count) =
            remains.as_ref().and_then(|remains| remains.read(self.received, &mut buffer).ok())
            && count > 0
        {
            self.out(&buffer[..count], self.received + count as u64).await?;
        }
        self.emit(Incoming::Stderr("The host of this session is gone".to_owned())).await?;
        let exit = remains.and_then(|remains| remains.exit());
        self.emit(Incoming::Exit(exit.unwrap_or_default())).await
    }

    async fn out(&mut self, bytes: &[u8], end: u64) -> Result<(), SessionGone> {
        self.received = end;
        self.lines.push(bytes);
        while let Some(event) = self.lines.next() {
            self.line(event).await?;
        }
        // A line that is too long is dropped here, so the host need not keep it. It would not fit into the
        // spool.
        if end - self.lines.end() > self.line_bytes_max {
            self.shared.acknowledge(end);
        }
        Ok(())
    }

    async fn line(&mut self, mut event: Incoming) -> Result<(), SessionGone> {
        if let Incoming::Frame { frame, end } = &mut event {
            let at = self.lines.end();
            *end = Some(at);
            if frame.kind() == Kind::ControlRequest
                && at <= self.old
                && self.open.as_ref().is_some_and(|open| !open.contains(&at))
            {
                // It was answered before this connection.
                return Ok(());
            }
        }
        self.emit(event).await
    }

    async fn emit(&self, event: Incoming) -> Result<(), SessionGone> {
        self.events.send(event).await.map_err(|_| SessionGone)
    }

    fn wrote(&self, id: &str) {
        // A long line has taken all the credit; the prefix of its id marks it.
        let permits = if id.starts_with(LONG) { HOST_LINES_AHEAD } else { 1 };
        let missing = HOST_LINES_AHEAD.saturating_sub(self.shared.credit.available_permits());
        self.shared.credit.add_permits(permits.min(missing));
    }
}

/// Writes queued messages and acknowledgements.
///
/// It ends when all senders are dropped, and so it does not hold the shared state.
async fn send(
    mut acknowledged: watch::Receiver<u64>,
    detached: CancellationToken,
    mut write: OwnedWriteHalf,
    mut outbound: mpsc::Receiver<Outbound>,
) {
    loop {
        let (message, sent) = tokio::select! {
            biased;
            () = detached.cancelled() => return,
            outbound = outbound.recv() => match outbound {
                Some(Outbound { message, sent }) => (message, sent),
                None => return,
            },
            changed = acknowledged.changed() => match changed {
                Ok(()) => (Message::new(ToHost::Ack { offset: *acknowledged.borrow_and_update() }), None),
                Err(_) => return,
            },
        };
        if write.write_all(&message.encode()).await.is_err() {
            return;
        }
        if let Some(sent) = sent {
            // The caller may have given up.
            let _ = sent.send(());
        }
    }
}

/// The prefix of the id of a line that is sent alone.
const LONG: &str = "long:";

/// The writer of lines for the CLI.
#[derive(Debug)]
struct LineSender {
    shared: Arc<Shared>,
    messages: Option<mpsc::Sender<Outbound>>,
}

impl Outgoing for LineSender {
    fn send<'a>(&'a mut self, line: &'a str) -> BoxFuture<'a, io::Result<()>> {
        match FrameRef::from_json(line) {
            Ok(frame) => self.send_frame(line, frame),
            Err(error) => Box::pin(async { Err(io::Error::new(io::ErrorKind::InvalidInput, error)) }),
        }
    }

    /// Returns when the line is in the socket, and would reach the host even if this process was killed now.
    fn send_frame<'a>(&'a mut self, line: &'a str, frame: FrameRef<'a>) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
            let messages = self.messages.as_ref().ok_or_else(broken)?;
            let long = line.len() > HOST_LONG_LINE_BYTES;
            let permits = if long { HOST_LINES_AHEAD } else { 1 };
            let permits = u32::try_from(permits).unwrap_or(u32::MAX);
            self.shared.credit.acquire_many(permits).await.map_err(|_| broken())?.forget();
            let id = if long { format!("{LONG}{}", line_id(frame)) } else { line_id(frame) };
            let (sent, gone) = oneshot::channel();
            let message = Message::with(ToHost::In { id }, line);
            messages.send(Outbound { message, sent: Some(sent) }).await.map_err(|_| broken())?;
            gone.await.map_err(|_| broken())
        })
    }

    fn end(&mut self) -> BoxFuture<'_, io::Result<()>> {
        self.messages = None;
        if self.shared.detached.is_cancelled() {
            // The session ends now instead of staying silent.
            *self.shared.silence() = None;
        } else {
            let _ = self.shared.queue(ToHost::EndInput);
        }
        Box::pin(async { Ok(()) })
    }
}

/// The id of a line: the same line has the same id, in every bridge and every attempt.
fn line_id(frame: FrameRef<'_>) -> String {
    let (word, id) = match frame.kind() {
        Kind::User => ("user", frame.uuid()),
        Kind::ControlRequest => ("request", frame.request_id()),
        Kind::ControlResponse => ("response", frame.request_id()),
        Kind::ControlCancelRequest => ("cancel", frame.request_id()),
        _ => ("line", None),
    };
    match id {
        Some(id) if id.len() + 16 <= HOST_ID_BYTES_MAX => format!("{word}:{id}"),
        _ => format!("line:{}", Uuid::new_v4()),
    }
}

#[derive(Debug)]
struct HostStop {
    shared: Arc<Shared>,
    pid: Option<u32>,
}

impl Stop for HostStop {
    fn terminate(&self) {
        self.queue(ToHost::Terminate);
    }

    fn kill(&self) {
        self.queue(ToHost::Kill);
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }
}

impl HostStop {
    fn queue(&self, head: ToHost) {
        if !self.shared.detached.is_cancelled() {
            let _ = self.shared.queue(head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P3: a prompt and an answer are identified by their content, so that a second bridge sends them under
    /// the same id.
    #[test]
    fn promise_3_the_same_line_has_the_same_name() {
        for (line, expected) in [
            (r#"{"type":"user","uuid":"u1","message":{}}"#, "user:u1"),
            (
                r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#,
                "request:r1",
            ),
            (
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"r2"}}"#,
                "response:r2",
            ),
            (r#"{"type":"control_cancel_request","request_id":"r3"}"#, "cancel:r3"),
        ] {
            assert_eq!(line_id(FrameRef::from_json(line).unwrap()), expected);
        }
        for line in [r#"{"type":"user","message":{}}"#, r#"{"type":"new"}"#] {
            let frame = FrameRef::from_json(line).unwrap();
            assert_ne!(line_id(frame), line_id(frame), "{line}");
        }
    }
}
