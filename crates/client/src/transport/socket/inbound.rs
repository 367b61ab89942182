//! The messages of a host as events of a session.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tidings_protocol::Kind;
use tokio::net::unix::OwnedReadHalf;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::AttachReply;
use super::handle::Shared;
use super::link::LONG;
use crate::host::wire::{FromHost, Message, Reader};
use crate::host::{HostFolder, HostRemnant};
use crate::limits::{HOST_LINES_AHEAD, HOST_READ_BYTES};
use crate::transport::{Exit, Incoming, Lines};

/// Reads the messages of a host, for the task of the session.
pub(in crate::transport) struct Inbound {
    shared: Arc<Shared>,
    folder: HostFolder,
    source: OutputSource,
    detached: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Events before those of the next line.
    ready: VecDeque<Incoming>,
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

/// The source of more output.
enum OutputSource {
    Host(Reader<OwnedReadHalf>),
    /// The host is gone: what it kept and did not send.
    Spool(Box<HostRemnant>),
    /// The last event was read.
    Over,
}

impl Inbound {
    pub(super) fn new(
        shared: Arc<Shared>,
        folder: HostFolder,
        reader: Reader<OwnedReadHalf>,
        reply: AttachReply,
        line_bytes_max: usize,
    ) -> Self {
        let hello = &reply.hello;
        let all = (hello.forgotten == 0).then(|| reply.open.iter().map(|(end, _)| *end).collect());
        // Requests before the offset at which reading resumes are not received again.
        let before = reply.open.into_iter().filter(|(end, _)| *end <= hello.after);
        Inbound {
            detached: Box::pin(shared.detached.clone().cancelled_owned()),
            shared,
            folder,
            source: OutputSource::Host(reader),
            ready: before.map(|(_, request)| Incoming::from(request)).collect(),
            lines: Lines::starting_at(line_bytes_max, hello.after),
            line_bytes_max: line_bytes_max as u64,
            received: hello.after,
            old: hello.next,
            open: all,
        }
    }

    /// Waits for the next event; `None` after the last one. A session that was detached stays silent until
    /// its input ends.
    pub(in crate::transport) async fn recv(&mut self) -> Option<Incoming> {
        loop {
            if let Some(event) = self.next_ready() {
                return Some(event);
            }
            if matches!(self.source, OutputSource::Over) {
                if self.shared.detached.is_cancelled() {
                    self.shared.left.cancelled().await;
                }
                return None;
            }
            // A line that is too long is dropped here, so the host need not keep it. It would not fit into
            // the spool.
            if self.received - self.lines.end() > self.line_bytes_max {
                self.shared.acknowledge(self.received);
            }
            self.shared.is_behind.store(false, Ordering::Relaxed);
            self.read().await;
        }
    }

    /// The next event of what was read.
    fn next_ready(&mut self) -> Option<Incoming> {
        if let Some(event) = self.ready.pop_front() {
            return Some(event);
        }
        while let Some(event) = self.lines.next() {
            if let Some(event) = self.unanswered(event) {
                return Some(event);
            }
        }
        None
    }

    /// Reads one message, or a part of the spool.
    async fn read(&mut self) {
        match &mut self.source {
            OutputSource::Host(reader) => {
                let message = tokio::select! {
                    biased;
                    () = &mut self.detached => return self.end(),
                    message = reader.next::<FromHost>() => message,
                };
                // Any end of the connection: a killed host closes it in the middle of a message.
                let Ok(Some(message)) = message else { return self.lose_host() };
                self.shared.received.fetch_add(1, Ordering::Relaxed);
                self.shared.is_behind.store(true, Ordering::Relaxed);
                self.take(message);
            }
            OutputSource::Spool(remnant) => {
                let mut buffer = vec![0; HOST_READ_BYTES];
                if let Ok(count @ 1..) = remnant.read(self.received, &mut buffer) {
                    self.out(&buffer[..count], self.received + count as u64);
                } else {
                    let exit = remnant.exit();
                    self.end_without_host(exit);
                }
            }
            OutputSource::Over => {}
        }
    }

    fn take(&mut self, message: Message<FromHost>) {
        match message.head {
            FromHost::Out { end } => self.out(&message.bytes, end),
            FromHost::Stderr => {
                let line = String::from_utf8_lossy(&message.bytes).into_owned();
                self.ready.push_back(Incoming::Stderr(line));
            }
            FromHost::Wrote { id, .. } => self.wrote(&id),
            FromHost::Unwritten { id, message } => {
                self.wrote(&id);
                let text = format!("A line was not written to the agent: {message}");
                self.ready.push_back(Incoming::Stderr(text));
            }
            FromHost::Exit { code, signal, .. } => {
                self.finish_lines();
                self.ready.push_back(Incoming::Exit(Exit { code, signal }));
                self.end();
            }
            FromHost::Pong { cli } => self.shared.complete_ping(cli),
            answer @ FromHost::Pids { .. } => self.shared.complete(answer),
            FromHost::Superseded { owner } => {
                let text = format!("Another bridge has taken over this session: {owner}");
                self.ready.extend([Incoming::Stderr(text), Incoming::Exit(Exit::default())]);
                self.end();
            }
            _ => {}
        }
    }

    /// Handles the loss of the host, which also ends the CLI. Output that the host kept and did not send is
    /// read from its spool.
    fn lose_host(&mut self) {
        // Requests that are found now can no longer be answered.
        (self.old, self.open) = (u64::MAX, Some(HashSet::new()));
        match self.folder.remains() {
            Ok(remnant) => self.source = OutputSource::Spool(Box::new(remnant)),
            Err(_) => self.end_without_host(None),
        }
    }

    fn end_without_host(&mut self, exit: Option<Exit>) {
        self.ready.push_back(Incoming::Stderr("The host of this session is gone".to_owned()));
        self.ready.push_back(Incoming::Exit(exit.unwrap_or_default()));
        self.end();
    }

    /// Closes the connection, after which there are only events that are ready.
    fn end(&mut self) {
        self.source = OutputSource::Over;
        self.shared.end();
    }

    fn out(&mut self, bytes: &[u8], end: u64) {
        self.received = end;
        self.lines.push(bytes);
    }

    fn finish_lines(&mut self) {
        if let Some(event) = self.lines.finish() {
            let event = self.unanswered(event);
            self.ready.extend(event);
        }
    }

    /// The event with the offset of its line, unless it is a request that was answered before this
    /// connection.
    fn unanswered(&self, mut event: Incoming) -> Option<Incoming> {
        if let Incoming::Frame { frame, end } = &mut event {
            let at = self.lines.end();
            *end = Some(at);
            if frame.kind() == Kind::ControlRequest
                && at <= self.old
                && self.open.as_ref().is_some_and(|open| !open.contains(&at))
            {
                return None;
            }
        }
        Some(event)
    }

    fn wrote(&self, id: &str) {
        // A long line has taken all the credit; the prefix of its id marks it.
        let permits = if id.starts_with(LONG) { HOST_LINES_AHEAD } else { 1 };
        let missing = HOST_LINES_AHEAD.saturating_sub(self.shared.credit.available_permits());
        self.shared.credit.add_permits(permits.min(missing));
    }
}

impl Drop for Inbound {
    fn drop(&mut self) {
        self.shared.end();
    }
}

impl fmt::Debug for Inbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbound").field("received", &self.received).finish_non_exhaustive()
    }
}
