//! What the tasks of a host share.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::cli::{Cli, Input};
use super::folder::{HostFolder, Record};
use super::memory::Memory;
use super::spool::Spool;
use super::wire::{self, Attach, FromHost, Hello, Message, Novelty, Refusal, VERSION};
use crate::limits::{
    HOST_BYTES_MAX, HOST_ID_BYTES_MAX, HOST_LEASE, HOST_PIECE_BYTES, HOST_REPLIES_MAX, STDERR_TAIL_BYTES,
};
use crate::transport::Exit;

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) folder: HostFolder,
    pub(super) record: Record,
    state: Mutex<State>,
    /// Counts up with everything that somebody may wait for.
    changed: watch::Sender<u64>,
    /// Since when no bridge has been there.
    alone: watch::Sender<Alone>,
    over: watch::Sender<Option<Over>>,
}

/// Why a host ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The bridge has everything; nothing is kept.
    Done,
    /// It was told to, or nobody came; what is spooled stays for whoever comes later.
    Told,
}

#[derive(Debug, Clone, Copy)]
struct Alone {
    since: Option<Instant>,
    lease: Duration,
}

#[derive(Debug, Default)]
struct State {
    session: Option<Session>,
    connection: Option<Connection>,
    connections: u64,
    /// The best right that was ever shown.
    fence: u64,
    /// Those who are there and may still say what to start.
    starters: usize,
}

/// What there is once something was started.
#[derive(Debug)]
struct Session {
    cli: Cli,
    spool: Spool,
    memory: Memory,
    stderr: VecDeque<Vec<u8>>,
    stderr_bytes: usize,
    input: Option<mpsc::Sender<Input>>,
    /// Bytes of lines that the CLI has not taken yet.
    waiting_bytes: u64,
    exit: Option<Exit>,
}

/// The bridge that is there.
#[derive(Debug)]
struct Connection {
    id: u64,
    owner: String,
    replies: VecDeque<Message<FromHost>>,
    closed: CancellationToken,
    exit_told: bool,
}

/// A bridge that was let in.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) id: u64,
    pub(super) after: u64,
    pub(super) closed: CancellationToken,
    /// What it is told first.
    pub(super) greeting: Vec<Message<FromHost>>,
}

/// What a connection does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Then {
    Send,
    Wait,
    /// Send this, and nothing more.
    Last,
}

impl Host {
    pub(super) fn new(folder: HostFolder, record: Record) -> Self {
        Host {
            folder,
            record,
            state: Mutex::default(),
            changed: watch::Sender::new(0),
            alone: watch::Sender::new(Alone { since: None, lease: HOST_LEASE }),
            over: watch::Sender::new(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing here panics while it holds the lock, and the state is no worse for a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(super) fn is_started(&self) -> bool {
        self.lock().session.is_some()
    }

    /// Somebody is there who may say what to start.
    pub(super) fn starter_came(&self) {
        self.lock().starters += 1;
    }

    /// It has said so, will not, or has gone.
    pub(super) fn starter_left(&self) {
        self.lock().starters -= 1;
        self.touch();
    }

    /// Waits until something was started, or nobody is there who could say what.
    pub(super) async fn no_starter(&self) {
        let mut changed = self.changed.subscribe();
        let may_come = || {
            let state = self.lock();
            state.session.is_none() && state.starters > 0
        };
        while may_come() {
            // The host itself holds the other end.
            drop(changed.changed().await);
        }
    }

    pub(super) fn cli(&self) -> Option<Cli> {
        self.lock().session.as_ref().map(|session| session.cli.clone())
    }

    /// Something was started. `false` if something had been before.
    pub(super) fn started(
        &self,
        cli: Cli,
        spool: Spool,
        input: mpsc::Sender<Input>,
        lease: Duration,
    ) -> bool {
        let mut state = self.lock();
        if state.session.is_some() {
            return false;
        }
        state.session = Some(Session {
            cli,
            spool,
            memory: Memory::default(),
            stderr: VecDeque::new(),
            stderr_bytes: 0,
            input: Some(input),
            waiting_bytes: 0,
            exit: None,
        });
        self.alone.send_modify(|alone| alone.lease = lease);
        true
    }

    /// Waits until more of the CLI's output can be kept.
    pub(super) async fn room(&self) {
        let mut changed = self.changed.subscribe();
        let has_room = || self.lock().session.as_ref().is_none_or(|session| session.spool.has_room());
        while !has_room() {
            // The host itself holds the other end.
            drop(changed.changed().await);
        }
    }

    /// The CLI wrote something.
    pub(super) fn heard(&self, bytes: &[u8]) -> io::Result<()> {
        if let Some(session) = &mut self.lock().session {
            session.spool.append(bytes)?;
            session.memory.heard(bytes);
        }
        self.touch();
        Ok(())
    }

    /// The CLI complained.
    pub(super) fn complained(&self, line: Vec<u8>) {
        if let Some(session) = &mut self.lock().session {
            session.stderr_bytes += line.len();
            session.stderr.push_back(line);
            while session.stderr_bytes > STDERR_TAIL_BYTES && session.stderr.len() > 1 {
                let oldest = session.stderr.pop_front().unwrap_or_default();
                session.stderr_bytes -= oldest.len();
            }
        }
        self.touch();
    }

    /// The CLI has ended, and all that it wrote is kept.
    pub(super) fn ended(&self, exit: Exit) {
        if let Some(session) = &mut self.lock().session {
            session.exit = Some(exit);
            session.input = None;
        }
        self.touch();
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        self.lock().session.as_ref()?.exit
    }

    /// Waits until the bridge that is there knows that the CLI has ended. There may be none.
    pub(super) async fn exit_was_told(&self) {
        let mut changed = self.changed.subscribe();
        while self.lock().connection.as_ref().is_some_and(|connection| !connection.exit_told) {
            drop(changed.changed().await);
        }
    }

    /// A bridge wants to be the host's. The rules are in the documentation of the module.
    pub(super) fn attach(&self, attach: &Attach) -> Result<Admitted, (Refusal, String)> {
        let mut state = self.lock();
        let refuse = |reason, message: &str| Err((reason, message.to_owned()));
        if !same(&attach.secret, &self.record.secret) {
            return refuse(Refusal::Stranger, "The secret is another one");
        }
        let current = state.connection.as_ref().map(|connection| connection.owner.clone());
        match judge(current.as_deref(), state.fence, attach) {
            Some(Refusal::Outdated) => {
                return refuse(Refusal::Outdated, "A newer bridge has taken this session over");
            }
            Some(reason) => {
                let owner = current.unwrap_or_default();
                return Err((reason, format!("This session belongs to another bridge, `{owner}`")));
            }
            None => {}
        }
        let Some(session) = &state.session else {
            return refuse(Refusal::NotNow, "Nothing was started here");
        };
        if attach.after.is_some_and(|after| after > session.spool.next()) {
            return refuse(Refusal::NoSuchOffset, "The agent has not written that much");
        }
        if let Some(lease) = attach.lease_ms {
            self.alone.send_modify(|alone| alone.lease = Duration::from_millis(lease));
        }
        let after = attach.after.unwrap_or_default().max(session.spool.first());
        let greeting = session.greeting(self.hello(session, after, attach.version));
        state.fence = attach.fence;
        state.connections += 1;
        let (id, closed) = (state.connections, CancellationToken::new());
        let owner = attach.owner.clone();
        let connection =
            Connection { id, owner, replies: VecDeque::new(), closed: closed.clone(), exit_told: false };
        if let Some(former) = state.connection.replace(connection) {
            former.closed.cancel();
        }
        drop(state);
        self.alone.send_modify(|alone| alone.since = None);
        self.touch();
        Ok(Admitted { id, after, closed, greeting })
    }

    fn hello(&self, session: &Session, after: u64, version: u32) -> Hello {
        Hello {
            version: version.min(VERSION),
            host: self.record.id.clone(),
            session: self.record.session.clone(),
            host_pid: std::process::id(),
            pid: session.cli.pid().filter(|_| session.exit.is_none()),
            started: self.record.started.clone(),
            first: session.spool.first(),
            next: session.spool.next(),
            after,
            lease_ms: u64::try_from(self.alone.borrow().lease.as_millis()).unwrap_or(u64::MAX),
            forgotten: session.memory.forgotten(),
        }
    }

    /// A connection has ended; it need not have been the bridge's.
    pub(super) fn left(&self, id: Option<u64>) {
        let mut state = self.lock();
        if id.is_some() && state.connection.as_ref().map(|connection| connection.id) == id {
            state.connection = None;
        }
        if state.connection.is_none() && state.session.is_some() {
            self.alone.send_modify(|alone| {
                alone.since.get_or_insert_with(Instant::now);
            });
        }
        drop(state);
        self.touch();
    }

    /// Returns when no bridge has been there for as long as the lease says.
    pub(super) async fn lease_is_over(&self) {
        let mut alone = self.alone.subscribe();
        loop {
            let Alone { since, lease } = *alone.borrow_and_update();
            let Some(since) = since else {
                drop(alone.changed().await);
                continue;
            };
            tokio::select! {
                () = tokio::time::sleep_until(since + lease) => return,
                _ = alone.changed() => {}
            }
        }
    }

    /// A line for the CLI. Gives what to answer at once, if anything.
    pub(super) fn write(&self, id: String, mut line: Vec<u8>) -> Option<FromHost> {
        let unwritten = |id: String, message: &str| {
            let message = message.to_owned();
            Some(FromHost::Unwritten { id, message })
        };
        if id.len() > HOST_ID_BYTES_MAX {
            return unwritten(id, "The name of a line is too long");
        }
        if line.contains(&b'\n') || tidings_protocol::FrameRef::decode(&line).is_err() {
            return unwritten(id, "A line that is no frame would end the agent");
        }
        let mut state = self.lock();
        let Some(session) = &mut state.session else { return unwritten(id, "Nothing was started here") };
        if session.memory.writes(&id, &line) == Novelty::Seen {
            return Some(FromHost::Wrote { id, novelty: Novelty::Seen });
        }
        let length = line.len() as u64;
        let sent = match &session.input {
            None => Err("The agent takes no more input"),
            Some(_) if session.waiting_bytes > 0 && session.waiting_bytes + length > HOST_BYTES_MAX => {
                Err("The agent does not read")
            }
            Some(input) => {
                line.push(b'\n');
                input.try_send(Input { id: id.clone(), line }).map_err(|_| "The agent does not read")
            }
        };
        if let Err(message) = sent {
            session.memory.unwrites(&id);
            return unwritten(id, message);
        }
        session.waiting_bytes += length;
        None
    }

    /// A line was written, or could not be.
    pub(super) fn wrote(&self, id: String, length: u64, result: io::Result<()>) {
        if let Some(session) = &mut self.lock().session {
            session.waiting_bytes = session.waiting_bytes.saturating_sub(length);
            match result {
                Ok(()) => session.memory.wrote(&id),
                Err(_) => session.memory.unwrites(&id),
            }
        }
        let reply = match result {
            Ok(()) => FromHost::Wrote { id, novelty: Novelty::New },
            Err(error) => FromHost::Unwritten { id, message: error.to_string() },
        };
        self.reply(reply);
    }

    /// No more lines come.
    pub(super) fn end_input(&self) {
        if let Some(session) = &mut self.lock().session {
            session.input = None;
        }
    }

    pub(super) fn forget(&self, offset: u64) {
        if let Some(session) = &mut self.lock().session {
            session.spool.forget(offset);
        }
        self.touch();
    }

    /// Whether a connection is that of the bridge.
    pub(super) fn is_served_by(&self, id: u64) -> bool {
        self.lock().connection.as_ref().is_some_and(|connection| connection.id == id)
    }

    /// Tells the bridge that is there, if there is one.
    pub(super) fn reply(&self, head: FromHost) {
        if let Some(connection) = &mut self.lock().connection {
            connection.replies.push_back(Message::new(head));
            if connection.replies.len() > HOST_REPLIES_MAX {
                connection.closed.cancel();
            }
        }
        self.touch();
    }

    /// What a connection sends next, written behind what is there.
    pub(super) fn next_for(&self, id: u64, sent: &mut u64, out: &mut Vec<u8>) -> io::Result<Then> {
        let mut state = self.lock();
        let State { session, connection, .. } = &mut *state;
        let (Some(session), Some(connection)) = (session, connection) else { return Ok(Then::Last) };
        if connection.id != id {
            wire::encode(&FromHost::Superseded { owner: connection.owner.clone() }, &[], out);
            return Ok(Then::Last);
        }
        for reply in connection.replies.drain(..) {
            wire::encode(&reply.head, &reply.bytes, out);
        }
        for line in session.stderr.drain(..) {
            wire::encode(&FromHost::Stderr, &line, out);
        }
        session.stderr_bytes = 0;
        let mut read;
        // A bridge that keeps up gets what was written a moment ago, and another one what is on the disk.
        let piece = if let Some(last) = session.spool.last_from(*sent) {
            last
        } else {
            read = [0; HOST_PIECE_BYTES];
            let count = session.spool.read(*sent, &mut read)?;
            &read[..count]
        };
        if !piece.is_empty() {
            *sent += piece.len() as u64;
            wire::encode_out(*sent, piece, out);
        } else if let Some(exit) = session.exit.filter(|_| !connection.exit_told) {
            wire::encode(&FromHost::exit(exit, session.spool.next()), &[], out);
            connection.exit_told = true;
        }
        Ok(if out.is_empty() { Then::Wait } else { Then::Send })
    }

    /// The host is to end.
    pub(super) fn finish(&self, over: Over) {
        self.over.send_modify(|already| {
            already.get_or_insert(over);
        });
    }

    /// Returns when the host is to end.
    pub(super) async fn over(&self) -> Over {
        let mut over = self.over.subscribe();
        let over = over.wait_for(Option::is_some).await;
        over.ok().and_then(|over| *over).unwrap_or(Over::Told)
    }
}

impl Session {
    fn greeting(&self, hello: Hello) -> Vec<Message<FromHost>> {
        let mut all = vec![Message::new(FromHost::Hello(hello))];
        all.extend(self.memory.initialize().map(|line| Message::with(FromHost::Initialize, line)));
        all.extend(self.memory.init().map(|line| Message::with(FromHost::Init, line)));
        let open = self.memory.open().iter();
        all.extend(open.map(|asked| Message::with(FromHost::Open { end: asked.end }, asked.line.as_slice())));
        all.push(Message::new(FromHost::Ready));
        all
    }
}

/// Whether a bridge may become the host's, given who is there and the best right that was ever shown.
fn judge(current: Option<&str>, best: u64, attach: &Attach) -> Option<Refusal> {
    if attach.fence < best {
        return Some(Refusal::Outdated);
    }
    // Who is there has shown the best right so far.
    let taken = current.is_some_and(|owner| owner != attach.owner && attach.fence == best);
    taken.then_some(Refusal::Taken)
}

/// Compares without telling by its duration how much was right.
fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F80: who becomes the bridge of a host, by who is there, the best right so far, and the right that is shown.
    #[test]
    fn f80_one_bridge_at_a_time_and_the_better_right_wins() {
        let attach = |owner: &str, fence| Attach {
            version: 1,
            secret: String::new(),
            owner: owner.to_owned(),
            fence,
            after: None,
            lease_ms: None,
        };
        for (current, best, owner, fence, expected) in [
            (None, 0, "a", 0, None),
            (None, 7, "b", 7, None),
            (None, 7, "b", 6, Some(Refusal::Outdated)),
            (Some("a"), 7, "b", 7, Some(Refusal::Taken)),
            (Some("a"), 7, "b", 8, None),
            (Some("a"), 7, "a", 7, None),
            (Some("a"), 7, "a", 6, Some(Refusal::Outdated)),
        ] {
            assert_eq!(
                judge(current, best, &attach(owner, fence)),
                expected,
                "{current:?} {best} {owner} {fence}"
            );
        }
    }

    #[test]
    fn secrets_are_compared_whole() {
        for (one, other, expected) in [("abc", "abc", true), ("abc", "abd", false), ("abc", "ab", false)] {
            assert_eq!(same(one, other), expected, "{one} {other}");
        }
    }
}
