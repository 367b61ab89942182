//! The user's terminal, attached to a terminal host.

use std::io;
use std::time::Duration;

use rustix::process::Signal;
use tidings::host::terminal::{
    FromTerminal, TerminalExit, TerminalFolder, TerminalRecord, TerminalRole, ToTerminal,
};
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
    Exited(TerminalExit),
    Detached,
    Lost,
}

/// Shows the terminal of a host until the program ends or the user detaches.
pub(crate) fn show(
    folder: &TerminalFolder,
    record: &TerminalRecord,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Waits for no thread: one of them reads keys until the process ends.
    let left = runtime.block_on(attach(folder, record));
    runtime.shutdown_background();
    match left? {
        Left::Exited(TerminalExit { code, signal }) => {
            let code = code.unwrap_or_else(|| signal.map_or(1, |signal| 128 + signal));
            Ok(Exit::Code(u8::try_from(code).unwrap_or(u8::MAX)))
        }
        Left::Detached => {
            out.note(&format!("Detached; it continues. `tidings attach {}` returns to it.", record.id))?;
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

async fn attach(folder: &TerminalFolder, record: &TerminalRecord) -> anyhow::Result<Left> {
    let mut ends =
        [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?];
    let mut resized = signal(SignalKind::window_change())?;
    let (mut reader, mut writer) = match folder.attach(record, TerminalRole::Keys, raw::size()).await {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Left::Lost),
        attached => attached?,
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
            message = received.recv() => match message {
                Some(FromTerminal::Output(bytes) | FromTerminal::Redraw(bytes)) => {
                    if raw::write(&bytes).is_err() {
                        return Ok(Left::Detached);
                    }
                }
                Some(FromTerminal::Suspended) => {
                    suspend(&terminal)?;
                    // The end of the connection is seen by the reader.
                    drop(writer.send(&ToTerminal::Continue).await);
                    drop(writer.send(&ToTerminal::Size(raw::size())).await);
                }
                Some(FromTerminal::Exited(exit)) => return Ok(Left::Exited(exit)),
                Some(FromTerminal::Size(_) | FromTerminal::Outcome(_)) => {}
                None => return Ok(Left::Lost),
            },
            pressed = keys.recv() => match pressed {
                Some(pressed) if pressed == DETACH => return Ok(Left::Detached),
                // After the end of the program its exit is still to come.
                Some(pressed) => drop(writer.send(&ToTerminal::Keys(pressed)).await),
                None => return Ok(Left::Detached),
            },
            _ = resized.recv() => drop(writer.send(&ToTerminal::Size(raw::size())).await),
            _ = terminate.recv() => return Ok(Left::Detached),
            _ = hangup.recv() => return Ok(Left::Detached),
            _ = interrupt.recv() => return Ok(Left::Detached),
        }
    }
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
