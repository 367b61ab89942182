//! The user's terminal, attached to a host that holds one.

use std::io;
use std::time::Duration;

use rustix::process::Signal;
use tidings::host::terminal::{TerminalHost, TerminalReader, TerminalRole, TerminalWriter};
use tidings::host::wire::{FromHost, Message, ToHost};
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::Output;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::raw::{self, RawTerminal};

/// The key that detaches, Ctrl-\.
const DETACH: &[u8] = b"\x1c";

/// Messages and keys that wait while the terminal is slow.
const WAITING_MAX: usize = 16;

/// Bytes of input that are read at once.
const KEYS_BYTES_MAX: usize = 32 << 10;

/// Time for the system to stop this process after the signal.
const STOP_TIME: Duration = Duration::from_millis(100);

/// The end of a view of the terminal.
enum Left {
    /// With this exit code.
    Exited(i32),
    /// The host with this id goes on.
    Detached(String),
    Lost,
}

/// A connection to a host that holds a terminal.
pub(crate) type TerminalConnection = (TerminalHost, TerminalReader, TerminalWriter);

/// Shows the terminal of a host that runs.
pub(crate) fn show(terminal: TerminalHost, out: &mut Output) -> anyhow::Result<Exit> {
    let connect = async {
        let (reader, writer) = terminal.attach(TerminalRole::Keys, raw::size()).await?;
        Ok((terminal, reader, writer))
    };
    show_connected(connect, out)
}

/// Shows the terminal of a host until the program ends or the user detaches.
pub(super) fn show_connected(
    connect: impl Future<Output = anyhow::Result<TerminalConnection>>,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Waits for no thread: one of them reads keys until the process ends.
    let left = runtime.block_on(attach(connect));
    runtime.shutdown_background();
    match left? {
        Left::Exited(code) => Ok(Exit::Code(u8::try_from(code).unwrap_or(u8::MAX))),
        Left::Detached(id) => {
            out.note(&format!("Detached; it continues. `tidings attach {id}` returns to it."))?;
            Ok(Exit::Success)
        }
        Left::Lost => {
            let message = "The host of the terminal closed the connection".to_owned();
            let hint = "what runs in a terminal cannot attach to it; if the host has ended, `claude --resume` \
                        continues the session";
            Err(CannotRun { code: "failed", message, hint }.into())
        }
    }
}

async fn attach(connect: impl Future<Output = anyhow::Result<TerminalConnection>>) -> anyhow::Result<Left> {
    let mut ends =
        [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?];
    let mut resized = signal(SignalKind::window_change())?;
    let is_refused = |error: &anyhow::Error| {
        error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    let (TerminalHost { id, .. }, mut reader, mut writer) = match connect.await {
        Err(error) if is_refused(&error) => return Ok(Left::Lost),
        connected => connected?,
    };
    let (messages, mut received) = mpsc::channel(WAITING_MAX);
    drop(tokio::spawn(async move {
        while let Ok(Some(message)) = reader.next().await {
            if messages.send(message).await.is_err() {
                return;
            }
        }
    }));
    let terminal = RawTerminal::enter()?;
    let mut keys = read_keys();
    loop {
        let [terminate, hangup, interrupt] = &mut ends;
        tokio::select! {
            message = received.recv() => {
                let Some(Message { head, bytes }) = message else { return Ok(Left::Lost) };
                match head {
                    FromHost::Out { .. } | FromHost::Screen if raw::write(&bytes).is_err() => {
                        return Ok(Left::Detached(id));
                    }
                    FromHost::Suspended => {
                        suspend(&terminal)?;
                        // The end of the connection is seen by the reader.
                        drop(writer.send(&Message::new(ToHost::Continue)).await);
                        drop(writer.send(&size()).await);
                    }
                    FromHost::Exit { code, signal, .. } => {
                        let of_signal = || signal.map_or(1, |signal| 128 + signal);
                        return Ok(Left::Exited(code.unwrap_or_else(of_signal)));
                    }
                    _ => {}
                }
            },
            pressed = keys.recv() => match pressed {
                Some(pressed) if pressed == DETACH => return Ok(Left::Detached(id)),
                // After the end of the program its exit is still to come.
                Some(pressed) => drop(writer.send(&Message::with(ToHost::Keys, pressed)).await),
                None => return Ok(Left::Detached(id)),
            },
            _ = resized.recv() => drop(writer.send(&size()).await),
            _ = terminate.recv() => return Ok(Left::Detached(id)),
            _ = hangup.recv() => return Ok(Left::Detached(id)),
            _ = interrupt.recv() => return Ok(Left::Detached(id)),
        }
    }
}

/// The size of the user's terminal now.
fn size() -> Message<ToHost> {
    Message::new(ToHost::Resize { size: raw::size() })
}

/// Stops this process, as the program has stopped itself; returns when the shell continues it.
fn suspend(terminal: &RawTerminal) -> io::Result<()> {
    terminal.restore();
    rustix::process::kill_process(rustix::process::getpid(), Signal::TSTP)?;
    std::thread::sleep(STOP_TIME);
    terminal.apply()
}

/// Reads keys in a thread: the terminal is shared with the shell, so it must not become non-blocking.
fn read_keys() -> mpsc::Receiver<Vec<u8>> {
    let (keys, received) = mpsc::channel(WAITING_MAX);
    drop(std::thread::spawn(move || {
        let mut buffer = vec![0; KEYS_BYTES_MAX];
        loop {
            match rustix::io::read(io::stdin(), &mut buffer) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    if keys.blocking_send(buffer[..count].to_vec()).is_err() {
                        return;
                    }
                }
            }
        }
    }));
    received
}
