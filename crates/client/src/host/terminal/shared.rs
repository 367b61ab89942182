//! The state that the tasks of a host with a terminal share.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, Signal};
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio::time::Instant;

use super::pty;
use super::queries::{Piece, QueryFilter, Reply};
use super::screen::ScreenCopy;
use super::submit::{InputLine, submit};
use super::text::{paste, typed_text};
use crate::host::wire::{self, FromHost, TerminalSize, TypingOutcome};
use crate::limits::{TERMINAL_KEYS_WAITING, TERMINAL_OUTPUTS_WAITING, TYPING_PAUSE, VIEWERS_MAX};
use crate::transport::Exit;

/// A message for the viewers, encoded once.
pub(super) type Encoded = Arc<[u8]>;

/// A terminal and its program.
#[derive(Debug)]
pub(in crate::host) struct Terminal {
    pub(super) master: OwnedFd,
    pub(super) program: Pid,
    /// Keys on their way to the program. When it does not read, viewers wait.
    pub(super) keys: mpsc::Sender<Vec<u8>>,
    /// A viewer that is behind by more than this has to draw the screen anew.
    output: broadcast::Sender<Encoded>,
    /// Held while a prompt is typed, so that no keys of a person come between its text and Enter.
    typing: tokio::sync::Mutex<()>,
    /// Bounds the connections.
    pub(super) seats: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    screen: ScreenCopy,
    filter: QueryFilter,
    /// The viewers, and the sizes that they have told.
    viewers: HashMap<u64, Option<TerminalSize>>,
    next_viewer: u64,
    /// The last time that someone pressed keys.
    keys_at: Option<Instant>,
    /// The last time that a prompt was typed.
    typed_at: Option<Instant>,
    /// True if the program has written something since then.
    has_reacted: bool,
    is_suspended: bool,
    /// Bytes of output so far.
    written: u64,
    exit: Option<Exit>,
}

impl Terminal {
    pub(super) fn new(
        master: OwnedFd,
        program: Pid,
        size: TerminalSize,
    ) -> (Arc<Self>, mpsc::Receiver<Vec<u8>>) {
        let (keys, waiting) = mpsc::channel(TERMINAL_KEYS_WAITING);
        let state = State {
            screen: ScreenCopy::new(size),
            filter: QueryFilter::default(),
            viewers: HashMap::new(),
            next_viewer: 0,
            keys_at: None,
            typed_at: None,
            has_reacted: true,
            is_suspended: false,
            written: 0,
            exit: None,
        };
        let output = broadcast::Sender::new(TERMINAL_OUTPUTS_WAITING);
        let (typing, seats) = (tokio::sync::Mutex::default(), Semaphore::new(VIEWERS_MAX));
        let state = Mutex::new(state);
        (Arc::new(Terminal { master, program, keys, output, typing, seats, state }), waiting)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn tell(&self, head: &FromHost) {
        let mut message = Vec::new();
        wire::encode(head, &[], &mut message);
        self.tell_encoded(message);
    }

    fn tell_encoded(&self, message: Vec<u8>) {
        // There may be no viewers.
        drop(self.output.send(message.into()));
    }

    /// Takes output of the program.
    pub(super) fn take_output(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.has_reacted = true;
        for piece in state.filter.feed(bytes) {
            match piece {
                Piece::Output(bytes) => {
                    state.screen.process(&bytes);
                    state.written += bytes.len() as u64;
                    let mut message = Vec::new();
                    wire::encode_out(state.written, &bytes, &mut message);
                    self.tell_encoded(message);
                }
                Piece::Query(Reply::None) => {}
                // A program that asks and does not read gets no answers.
                Piece::Query(Reply::Fixed(bytes)) => drop(self.keys.try_send(bytes)),
                Piece::Query(Reply::CursorPosition) => {
                    let (row, col) = state.screen.cursor();
                    drop(self.keys.try_send(format!("\x1b[{row};{col}R").into_bytes()));
                }
            }
        }
    }

    /// Adds a viewer.
    pub(super) fn enter(&self, size: Option<TerminalSize>) -> u64 {
        let id = {
            let mut state = self.state();
            state.next_viewer += 1;
            let id = state.next_viewer;
            state.viewers.insert(id, size.map(TerminalSize::bounded));
            id
        };
        self.fit();
        id
    }

    /// Changes the size of a viewer.
    pub(super) fn set_size(&self, viewer: u64, size: Option<TerminalSize>) {
        self.state().viewers.insert(viewer, size.map(TerminalSize::bounded));
        self.fit();
    }

    /// Removes a viewer.
    pub(super) fn leave(&self, viewer: u64) {
        self.state().viewers.remove(&viewer);
        self.fit();
    }

    /// True while viewers may still take the exit, also the first one, whose program ended at once.
    pub(super) fn awaits_viewers(&self) -> bool {
        let state = self.state();
        !state.viewers.is_empty() || state.next_viewer == 0
    }

    /// Gives the terminal the smallest size of its viewers. Without any it keeps its size.
    fn fit(&self) {
        let mut state = self.state();
        let Some(size) = state.viewers.values().flatten().copied().reduce(TerminalSize::smallest) else {
            return;
        };
        if size == state.screen.size() {
            return;
        }
        state.screen.resize(size);
        self.tell(&FromHost::Size(size));
        if let Err(error) = pty::resize(&self.master, size) {
            tracing::warn!(%error, "failed to resize a terminal");
        }
    }

    /// The messages that draw the screen as it is now, and everything that follows.
    pub(super) fn begin(&self) -> (Vec<u8>, broadcast::Receiver<Encoded>) {
        let state = self.state();
        let mut begin = Vec::new();
        wire::encode(&FromHost::Size(state.screen.size()), &[], &mut begin);
        wire::encode(&FromHost::Screen, &state.screen.redraw(), &mut begin);
        if let Some(exit) = state.exit {
            wire::encode(&FromHost::exit(exit, state.written), &[], &mut begin);
        }
        (begin, self.output.subscribe())
    }

    /// Passes the keys of a person on.
    pub(super) async fn press(&self, keys: Vec<u8>) {
        self.resume();
        let _typing = self.typing.lock().await;
        if is_typing(&keys) {
            self.state().keys_at = Some(Instant::now());
        }
        // It fails after the end of the program.
        drop(self.keys.send(keys).await);
    }

    /// Types a prompt, if the screen allows it. An empty one only asks.
    pub(super) async fn prompt(&self, text: &str) -> TypingOutcome {
        let _typing = self.typing.lock().await;
        let outcome = self.paste(text);
        if outcome == TypingOutcome::Typed && !typed_text(text).is_empty() {
            // It does not fail.
            drop(submit(self).await);
            self.state().typed_at = Some(Instant::now());
        }
        outcome
    }

    /// Pastes the text of a prompt, if the screen allows it now. An empty one only asks.
    fn paste(&self, text: &str) -> TypingOutcome {
        let mut state = self.state();
        let now = Instant::now();
        let is_recent = |at: Option<Instant>| at.is_some_and(|at| now.duration_since(at) < TYPING_PAUSE);
        // What was typed a moment ago may not be on the screen yet.
        if is_recent(state.keys_at) || is_recent(state.typed_at) || !state.has_reacted {
            return TypingOutcome::JustTyped;
        }
        let outcome = state.screen.readiness();
        if outcome == TypingOutcome::Typed && !typed_text(text).is_empty() {
            if self.keys.try_send(paste(text)).is_err() {
                return TypingOutcome::JustTyped;
            }
            (state.typed_at, state.has_reacted) = (Some(now), false);
        }
        outcome
    }

    /// Types Esc, if the input line is on the screen: in a dialog Esc is an answer.
    pub(super) fn interrupt(&self) -> TypingOutcome {
        let Ok(_typing) = self.typing.try_lock() else { return TypingOutcome::JustTyped };
        let state = self.state();
        if state.screen.readiness() == TypingOutcome::NoInputLine {
            return TypingOutcome::NoInputLine;
        }
        match self.keys.try_send(b"\x1b".to_vec()) {
            Ok(()) => TypingOutcome::Typed,
            Err(_) => TypingOutcome::JustTyped,
        }
    }

    /// Notes that the program has suspended itself.
    pub(super) fn suspended(&self) {
        self.state().is_suspended = true;
        self.tell(&FromHost::Suspended);
    }

    /// Continues a suspended program.
    pub(super) fn resume(&self) {
        if std::mem::take(&mut self.state().is_suspended) {
            self.signal(Signal::CONT);
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        // It fails if nothing of the group is left.
        let _ = rustix::process::kill_process_group(self.program, signal);
    }

    /// Notes the end of the program.
    pub(super) fn ended(&self, exit: Exit) {
        let mut state = self.state();
        state.exit = Some(exit);
        self.tell(&FromHost::exit(exit, state.written));
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().exit.is_some()
    }
}

impl InputLine for Terminal {
    async fn text(&self) -> io::Result<Option<String>> {
        Ok(self.state().screen.input())
    }

    async fn enter(&self) -> io::Result<()> {
        // A program that reads nothing gets one Enter less.
        drop(self.keys.try_send(b"\r".to_vec()));
        Ok(())
    }
}

/// True if a person types. Terminals also report the focus, the mouse and colours.
fn is_typing(keys: &[u8]) -> bool {
    let reports: [&[u8]; 5] = [b"\x1b[I", b"\x1b[O", b"\x1b[<", b"\x1b[M", b"\x1b[?"];
    !reports.iter().any(|report| keys.starts_with(report))
}
