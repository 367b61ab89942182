//! The life of a program in a terminal.

use std::io;
use std::sync::Arc;

use rustix::process::{Pid, Signal, WaitOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::pty;
use super::shared::Terminal;
use crate::error::{Error, ErrorKind};
use crate::host::folder::{Record, TerminalProcess};
use crate::host::start::Start;
use crate::host::state::{Host, HostEnd};
use crate::host::wire::TerminalSize;
use crate::limits::{CHUNK_BYTES, HANGUP_GRACE, KILL_GRACE, LAST_VIEWERS_WAIT};
use crate::process_identity::start_time;
use crate::session_lock::AgentLock;
use crate::transport::Exit;
use crate::transport::process::{self, command};

/// Starts the program of a host in a terminal, and describes it in the host's record.
pub(in crate::host) async fn start(host: &Arc<Host>, start: Start, size: TerminalSize) -> Result<(), Error> {
    let lock = process::lock(start.lock(&host.record.id)).await?;
    let command = start.command(&host.folder)?;
    let program = command.get_program().to_owned();
    let failed = |source: io::Error| {
        let message = format!("Failed to start `{}` in a terminal", program.display());
        Error::new(ErrorKind::Spawn, message, command::spawn_hint(&source)).caused_by(source)
    };
    let children = signal(SignalKind::child()).map_err(failed)?;
    let (master, pid) = pty::start(command, size).map_err(failed)?;
    let number = u32::try_from(pid.as_raw_nonzero().get()).unwrap_or_default();
    lock.set_agent(Some(number));
    let process =
        TerminalProcess { pid: number, proc_start: start_time(number), host_pid: std::process::id() };
    let record = Record { terminal: Some(process), ..host.record.clone() };
    host.folder.write_record(&record).map_err(failed)?;
    rustix::io::ioctl_fionbio(&master, true).map_err(|error| failed(error.into()))?;
    let duplicate = || master.try_clone().map_err(failed);
    let output = pipe::Receiver::from_owned_fd_unchecked(duplicate()?).map_err(failed)?;
    let input = pipe::Sender::from_owned_fd_unchecked(duplicate()?).map_err(failed)?;
    let (terminal, keys) = Terminal::new(master, pid, size);
    drop(tokio::spawn(read_output(Arc::clone(&terminal), output)));
    drop(tokio::spawn(write_keys(input, keys)));
    Arc::clone(&lock).release_when_described();
    host.set_terminal(Arc::clone(&terminal));
    drop(tokio::spawn(wait(Arc::clone(host), terminal, children, lock)));
    Ok(())
}

/// Waits for the end of the program, and ends the host.
async fn wait(host: Arc<Host>, terminal: Arc<Terminal>, mut children: Signals, lock: Arc<AgentLock>) {
    let exit = loop {
        // It may have ended before its end was waited for.
        if let Some(exit) = reap(&terminal) {
            break exit;
        }
        children.recv().await;
    };
    drain(&terminal);
    lock.release();
    terminal.ended(exit);
    host.finish(HostEnd::Done);
}

/// Ends the program as a closed terminal does, and by force if it does not end. Returns when the viewers have
/// its exit. Nothing of it is kept for later.
pub(in crate::host) async fn end(host: &Host, terminal: &Terminal) -> io::Result<()> {
    if !terminal.has_ended() {
        terminal.signal(Signal::HUP);
        terminal.signal(Signal::CONT);
        if timeout(HANGUP_GRACE, host.over()).await.is_err() {
            terminal.signal(Signal::KILL);
            drop(timeout(KILL_GRACE, host.over()).await);
        }
    }
    let removed = host.folder.remove();
    let left = async {
        while terminal.awaits_viewers() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    drop(timeout(LAST_VIEWERS_WAIT, left).await);
    removed
}

/// Time between two looks for the last viewers.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(10);

async fn read_output(terminal: Arc<Terminal>, mut output: pipe::Receiver) {
    let mut buffer = vec![0; CHUNK_BYTES];
    // It fails when nothing has the terminal open any more; the end of the program is reported by a signal.
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        terminal.take_output(&buffer[..count]);
        // Output without end must not keep viewers from being heard.
        tokio::task::yield_now().await;
    }
}

/// Takes the output that was written before the end.
fn drain(terminal: &Terminal) {
    let mut buffer = vec![0; CHUNK_BYTES];
    for _ in 0..DRAINED_CHUNKS_MAX {
        match rustix::io::read(&terminal.master, &mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => terminal.take_output(&buffer[..count]),
        }
    }
}

/// A process that the program left behind may go on writing.
const DRAINED_CHUNKS_MAX: usize = 64;

async fn write_keys(mut input: pipe::Sender, mut keys: mpsc::Receiver<Vec<u8>>) {
    while let Some(keys) = keys.recv().await {
        if input.write_all(&keys).await.is_err() {
            return;
        }
    }
}

/// Collects ended and stopped processes. Returns the exit of the program once it has ended.
fn reap(terminal: &Terminal) -> Option<Exit> {
    let mut exit = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
        if pid != terminal.program {
            continue;
        }
        if status.stopped() {
            stopped(terminal, pid, status.stopping_signal());
        } else if status.exited() || status.signaled() {
            exit = Some(Exit { code: status.exit_status(), signal: status.terminating_signal() });
        }
    }
    exit
}

fn stopped(terminal: &Terminal, program: Pid, by: Option<i32>) {
    let is_by = |signal: Signal| by == Some(signal.as_raw());
    if is_by(Signal::TTIN) || is_by(Signal::TTOU) {
        // It used the terminal before it was its foreground job.
        let _ = rustix::process::kill_process_group(program, Signal::CONT);
    } else {
        terminal.suspended();
    }
}
