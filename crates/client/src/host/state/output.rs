//! The way of output through a host: from the CLI into the spool, and from the spool to the bridge.

use std::io;

use super::{BridgeConnection, Host, HostSession, HostState};
use crate::host::socket::WriteHalf;
use crate::host::wire::{self, FromHost};
use crate::limits::HOST_READ_BYTES;

/// The stream of messages to a bridge.
#[derive(Debug)]
pub(super) struct OutputStream {
    socket: WriteHalf,
    /// The offset up to which output of the CLI was encoded for the bridge.
    encoded: u64,
    /// Encoded messages, and the number of their bytes that were written.
    messages: Vec<u8>,
    written: usize,
}

/// The result of sending messages to a bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host) enum Sent {
    /// The bridge has everything.
    All,
    /// There is more to send.
    More,
    /// The socket is full.
    Full,
    /// The bridge is no longer connected, or another one is.
    Displaced,
}

impl HostSession {
    /// Locks the session that the CLI has begun to write. A CLI that continues a session of another process
    /// is stopped before it answers.
    fn note_cli_session(&mut self) {
        let Some(id) = self.conversation.started_session.take() else { return };
        if let Err(error) = self.lock.note_session(&id) {
            let line = format!("{error}: {}", error.hint()).into_bytes();
            self.stderr_bytes += line.len();
            self.stderr.push_back(line);
            self.cli.kill();
        }
    }
}

impl Host {
    /// Waits until there is room for more output of the CLI.
    pub(in crate::host) fn wait_for_room(&self) {
        let mut state = self.state.lock();
        self.room.wait_while(&mut state, |state| {
            state.session.as_ref().is_some_and(|session| !session.spool.has_room())
        });
    }

    /// Stores output of the CLI and sends it to the bridge.
    ///
    /// It is sent by the thread that has read it, if the socket has room: a delta wakes no task of the host.
    pub(in crate::host) fn store_output(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock();
        let HostState { session: Some(session), connection, .. } = &mut *state else { return Ok(()) };
        if session.exit.is_some() {
            // A process that the CLI left behind has written it, too late.
            return Ok(());
        }
        session.spool.append(bytes)?;
        session.conversation.observe_output(bytes);
        session.note_cli_session();
        let Some(connection) = connection else { return Ok(()) };
        if connection.is_full() {
            // The connection's task waits until the socket has room.
            return Ok(());
        }
        if !matches!(connection.send(session), Ok(Sent::All)) {
            drop(state);
            self.touch();
        }
        Ok(())
    }

    /// Begins to send output to a bridge that was greeted. If it was displaced meanwhile, the other bridge's
    /// name is returned.
    pub(in crate::host) fn open_output(
        &self,
        id: u64,
        socket: WriteHalf,
        after: u64,
    ) -> Result<(), (WriteHalf, String)> {
        match &mut self.state.lock().connection {
            Some(connection) if connection.id == id => {
                let stream = OutputStream { socket, encoded: after, messages: Vec::new(), written: 0 };
                connection.output = Some(stream);
                Ok(())
            }
            other => Err((socket, other.as_ref().map(|other| other.owner.clone()).unwrap_or_default())),
        }
    }

    /// Sends the next messages to a bridge, as far as the socket has room.
    pub(in crate::host) fn send(&self, id: u64) -> io::Result<Sent> {
        let mut state = self.state.lock();
        match &mut *state {
            HostState { session: Some(session), connection: Some(connection), .. } if connection.id == id => {
                connection.send(session)
            }
            _ => Ok(Sent::Displaced),
        }
    }
}

impl BridgeConnection {
    fn is_full(&self) -> bool {
        self.output.as_ref().is_some_and(|output| !output.messages.is_empty())
    }

    /// Sends output from the spool only: new output takes the same path as missed output.
    fn send(&mut self, session: &mut HostSession) -> io::Result<Sent> {
        let Some(output) = &mut self.output else { return Ok(Sent::All) };
        if output.messages.is_empty() {
            for reply in self.replies.drain(..) {
                wire::encode(&reply.head, &reply.bytes, &mut output.messages);
            }
            for line in session.stderr.drain(..) {
                wire::encode(&FromHost::Stderr, &line, &mut output.messages);
            }
            session.stderr_bytes = 0;
            output.encode_chunk(session)?;
            if output.encoded == session.spool.next()
                && let Some(exit) = session.exit.filter(|_| !self.exit_sent)
            {
                wire::encode(&FromHost::exit(exit, output.encoded), &[], &mut output.messages);
                self.exit_sent = true;
            }
        }
        if !output.write()? {
            return Ok(Sent::Full);
        }
        let has_all = output.encoded == session.spool.next() && self.replies.is_empty();
        Ok(if has_all && session.stderr.is_empty() { Sent::All } else { Sent::More })
    }

    /// Tells the bridge that another one has taken over, if it reads, and does not wait for it.
    pub(super) fn displace(mut self, owner: &str) {
        if let Some(output) = self.output.as_mut().filter(|output| output.messages.is_empty()) {
            wire::encode(&FromHost::Superseded { owner: owner.to_owned() }, &[], &mut output.messages);
            // A bridge that is gone needs no message.
            drop(output.write());
        }
        self.closed.cancel();
    }
}

impl OutputStream {
    /// Encodes the next output of the CLI.
    fn encode_chunk(&mut self, session: &HostSession) -> io::Result<()> {
        let mut read;
        // A bridge that keeps up gets the last append from memory, and another one reads from disk.
        let chunk = if let Some(last) = session.spool.last_from(self.encoded) {
            last
        } else {
            read = [0; HOST_READ_BYTES];
            let count = session
                .spool
                .read(self.encoded, &mut read)
                .inspect_err(|error| tracing::error!(%error, "failed to read the spool"))?;
            &read[..count]
        };
        if !chunk.is_empty() {
            self.encoded += chunk.len() as u64;
            wire::encode_out(self.encoded, chunk, &mut self.messages);
        }
        Ok(())
    }

    /// Writes the encoded messages. Returns `false` if the socket is full.
    fn write(&mut self) -> io::Result<bool> {
        self.written += self.socket.write(&self.messages[self.written..])?;
        if self.written < self.messages.len() {
            return Ok(false);
        }
        self.messages.clear();
        self.messages.shrink_to(64 << 10);
        self.written = 0;
        Ok(true)
    }
}
