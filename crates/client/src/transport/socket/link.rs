//! One connection to a host: its task that writes, and the lines for the CLI.

use std::io;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use tidings_protocol::{FrameRef, Kind};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::AttachReply;
use super::handle::{Outbound, Shared};
use super::inbound::Inbound;
use crate::host::HostFolder;
use crate::host::wire::{Message, Reader, ToHost};
use crate::limits::{HOST_ID_BYTES_MAX, HOST_LINES_AHEAD, HOST_LONG_LINE_BYTES};
use crate::transport::{IncomingEvents, Link, Outgoing, Stop};

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
    // Lines, two requests of each other kind, and some slack.
    let (messages, outbound) = mpsc::channel(HOST_LINES_AHEAD * 2);
    let resumed = reply.resumed();
    let stop = HostStop { shared: Arc::clone(&shared), pid: reply.hello.pid };
    drop(shared.hello.set(reply.hello.clone()));
    drop(shared.open.set(reply.open.iter().map(|(_, request)| request.clone()).collect()));
    drop(shared.messages.set(messages.clone()));
    let AttachedStream { folder, reader, write } = stream;
    drop(tokio::spawn(send(shared.acknowledged.subscribe(), shared.detached.clone(), write, outbound)));
    let inbound = Inbound::new(Arc::clone(&shared), folder, reader, reply, line_bytes_max);
    let incoming = IncomingEvents::of_host(inbound);
    let outgoing = Box::new(LineSender { shared, messages: Some(messages) });
    Link { incoming, outgoing, stop: Arc::new(stop), program: None, resumed }
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
pub(super) const LONG: &str = "long:";

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
            self.shared.left.cancel();
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
