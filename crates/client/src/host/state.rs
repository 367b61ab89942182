//! The shared state of a host's tasks.

mod admission;
mod output;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tidings_protocol::FrameRef;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) use self::admission::Admitted;
use self::output::OutputStream;
pub(super) use self::output::Sent;
use super::cli::{Cli, CliLine};
use super::conversation::ConversationState;
use super::filter::FindFilter;
use super::folder::{HostFolder, Record};
use super::spool::Spool;
#[cfg(feature = "terminal")]
use super::terminal::Terminal;
use super::wire::{FromHost, Message, Novelty};
use crate::limits::{HOST_BYTES_MAX, HOST_ID_BYTES_MAX, HOST_LEASE, HOST_REPLIES_MAX, STDERR_TAIL_BYTES};
use crate::session_lock::AgentLock;
use crate::transport::Exit;

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) folder: HostFolder,
    pub(super) record: Record,
    pub(super) find_filter: FindFilter,
    state: Mutex<HostState>,
    /// Notified when the spool may have room again.
    room: Condvar,
    /// A counter that increases with every change of the state, but not with output.
    changed: watch::Sender<u64>,
    /// The time since which no bridge is connected.
    absence: watch::Sender<BridgeAbsence>,
    over: watch::Sender<Option<HostEnd>>,
    /// The terminal, once a program was started in one.
    #[cfg(feature = "terminal")]
    terminal: std::sync::OnceLock<Arc<Terminal>>,
}

/// The reason why a host ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostEnd {
    /// The bridge has everything; the folder is removed.
    Done,
    /// It was stopped, or no bridge came; the spool stays for a later bridge.
    Stopped,
}

#[derive(Debug, Clone, Copy)]
struct BridgeAbsence {
    since: Option<Instant>,
    lease: Duration,
}

#[derive(Debug, Default)]
struct HostState {
    session: Option<HostSession>,
    connection: Option<BridgeConnection>,
    connections: u64,
    /// The highest fence that was ever presented.
    fence: u64,
    /// The number of connections that may still send the launch request.
    starters: usize,
}

/// The state after an agent was started.
#[derive(Debug)]
struct HostSession {
    cli: Cli,
    spool: Spool,
    conversation: ConversationState,
    stderr: VecDeque<Vec<u8>>,
    stderr_bytes: usize,
    input: Option<mpsc::Sender<CliLine>>,
    /// Bytes of lines that the CLI has not read yet.
    waiting_bytes: u64,
    exit: Option<Exit>,
    lock: Arc<AgentLock>,
}

/// The connected bridge.
#[derive(Debug, Default)]
struct BridgeConnection {
    id: u64,
    owner: String,
    replies: VecDeque<Message<FromHost>>,
    closed: CancellationToken,
    /// Set once the greeting was sent.
    output: Option<OutputStream>,
    exit_sent: bool,
}

impl Host {
    pub(super) fn new(folder: HostFolder, record: Record, find_filter: FindFilter) -> Self {
        Host {
            folder,
            record,
            find_filter,
            state: Mutex::default(),
            room: Condvar::new(),
            changed: watch::Sender::new(0),
            absence: watch::Sender::new(BridgeAbsence { since: None, lease: HOST_LEASE }),
            over: watch::Sender::new(None),
            #[cfg(feature = "terminal")]
            terminal: std::sync::OnceLock::new(),
        }
    }

    #[cfg(feature = "terminal")]
    pub(super) fn terminal(&self) -> Option<&Arc<Terminal>> {
        self.terminal.get()
    }

    #[cfg(feature = "terminal")]
    pub(super) fn set_terminal(&self, terminal: Arc<Terminal>) {
        // There is one launch request.
        drop(self.terminal.set(terminal));
        self.touch();
    }

    fn touch(&self) {
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Waits until the state has changed so that the condition holds.
    pub(super) async fn until(&self, holds: impl Fn() -> bool) {
        let mut changed = self.changes();
        while !holds() {
            // The sender lives as long as the host itself.
            drop(changed.changed().await);
        }
    }

    pub(super) fn is_started(&self) -> bool {
        #[cfg(feature = "terminal")]
        if self.terminal.get().is_some() {
            return true;
        }
        self.state.lock().session.is_some()
    }

    /// Counts a connection that may send the launch request.
    pub(super) fn add_starter(&self) {
        self.state.lock().starters += 1;
    }

    /// Uncounts a connection that has sent it, will not send it, or has ended.
    pub(super) fn remove_starter(&self) {
        self.state.lock().starters -= 1;
        self.touch();
    }

    /// Waits until an agent was started, or no connection can send the launch request.
    pub(super) async fn wait_for_starters(&self) {
        // Both lock the state, so one after the other.
        self.until(|| self.is_started() || self.state.lock().starters == 0).await;
    }

    pub(super) fn cli(&self) -> Option<Cli> {
        self.state.lock().session.as_ref().map(|session| session.cli.clone())
    }

    /// Stores the started agent. Returns `false` if one was started before.
    pub(super) fn started(
        &self,
        cli: Cli,
        spool: Spool,
        input: mpsc::Sender<CliLine>,
        lease: Duration,
        lock: Arc<AgentLock>,
    ) -> bool {
        let mut state = self.state.lock();
        if state.session.is_some() {
            return false;
        }
        state.session = Some(HostSession {
            cli,
            spool,
            conversation: ConversationState::default(),
            stderr: VecDeque::new(),
            stderr_bytes: 0,
            input: Some(input),
            waiting_bytes: 0,
            exit: None,
            lock,
        });
        self.absence.send_modify(|absence| absence.lease = lease);
        true
    }

    /// Forwards a line of stderr.
    pub(super) fn store_stderr(&self, line: Vec<u8>) {
        if let Some(session) = &mut self.state.lock().session {
            session.stderr_bytes += line.len();
            session.stderr.push_back(line);
            while session.stderr_bytes > STDERR_TAIL_BYTES && session.stderr.len() > 1 {
                let oldest = session.stderr.pop_front().unwrap_or_default();
                session.stderr_bytes -= oldest.len();
            }
        }
        self.touch();
    }

    /// Records the exit of the CLI; all its output is stored.
    pub(super) fn set_exit(&self, exit: Exit) {
        if let Some(session) = &mut self.state.lock().session {
            session.exit = Some(exit);
            session.input = None;
        }
        self.touch();
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        self.state.lock().session.as_ref()?.exit
    }

    /// Waits until the connected bridge, if any, has received the exit status.
    pub(super) async fn exit_delivered(&self) {
        let has_it = |bridge: &BridgeConnection| bridge.exit_sent;
        self.until(|| self.state.lock().connection.as_ref().is_none_or(has_it)).await;
    }

    /// Queues a line for the CLI. Returns an immediate reply, if any.
    pub(super) fn write(&self, id: String, mut line: Vec<u8>) -> Option<FromHost> {
        let unwritten = |id: String, message: &str| {
            let message = message.to_owned();
            Some(FromHost::Unwritten { id, message })
        };
        if id.len() > HOST_ID_BYTES_MAX {
            return unwritten(id, "The id of the line is too long");
        }
        // Also a line of another version of the SDK must not crash the agent.
        let frame = FrameRef::decode(&line).ok().filter(|_| !line.contains(&b'\n'));
        let Some(frame) = frame else {
            return unwritten(id, "The line is not a JSON object, which would crash the agent");
        };
        let mut state = self.state.lock();
        let Some(session) = &mut state.session else { return unwritten(id, "No agent was started here") };
        if session.conversation.begin_write(&id, frame) == Novelty::Seen {
            return Some(FromHost::Wrote { id, novelty: Novelty::Seen });
        }
        let length = line.len() as u64;
        let sent = match &session.input {
            None => Err("The agent accepts no more input"),
            Some(_) if session.waiting_bytes > 0 && session.waiting_bytes + length > HOST_BYTES_MAX => {
                Err("The agent does not read")
            }
            Some(input) => {
                line.push(b'\n');
                input.try_send(CliLine { id: id.clone(), line }).map_err(|_| "The agent does not read")
            }
        };
        if let Err(message) = sent {
            session.conversation.revert_write(&id);
            return unwritten(id, message);
        }
        session.waiting_bytes += length;
        None
    }

    /// Records the result of writing a line.
    pub(super) fn wrote(&self, id: String, length: u64, result: io::Result<()>) {
        if let Some(session) = &mut self.state.lock().session {
            session.waiting_bytes = session.waiting_bytes.saturating_sub(length);
            match result {
                Ok(()) => session.conversation.finish_write(&id),
                Err(_) => session.conversation.revert_write(&id),
            }
        }
        let reply = match result {
            Ok(()) => FromHost::Wrote { id, novelty: Novelty::New },
            Err(error) => FromHost::Unwritten { id, message: error.to_string() },
        };
        self.reply(reply);
    }

    /// Ends the input of the CLI.
    pub(super) fn end_input(&self) {
        if let Some(session) = &mut self.state.lock().session {
            session.input = None;
        }
    }

    pub(super) fn forget(&self, offset: u64) {
        if let Some(session) = &mut self.state.lock().session {
            session.spool.forget(offset);
        }
        self.room.notify_all();
    }

    /// True if the connection is that of the current bridge.
    pub(super) fn is_served_by(&self, id: u64) -> bool {
        self.state.lock().connection.as_ref().is_some_and(|connection| connection.id == id)
    }

    /// Sends a message to the connected bridge, if there is one.
    pub(super) fn reply(&self, head: FromHost) {
        if let Some(connection) = &mut self.state.lock().connection {
            connection.replies.push_back(Message::new(head));
            if connection.replies.len() > HOST_REPLIES_MAX {
                connection.closed.cancel();
            }
        }
        self.touch();
    }

    /// Ends the host.
    pub(super) fn finish(&self, over: HostEnd) {
        self.over.send_modify(|already| {
            already.get_or_insert(over);
        });
    }

    /// Returns when the host is ending.
    pub(super) async fn over(&self) -> HostEnd {
        let mut over = self.over.subscribe();
        let over = over.wait_for(Option::is_some).await;
        over.ok().and_then(|over| *over).unwrap_or(HostEnd::Stopped)
    }
}
