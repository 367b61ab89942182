//! The terminal host process.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::record::{TerminalFolder, TerminalRecord};
use super::shared::Terminal;
use super::wire::{TerminalExit, TerminalSize};
use super::{pty, viewer};
use crate::limits::{CHUNK_BYTES, HANGUP_GRACE, LAST_VIEWERS_WAIT};
use crate::process_identity::start_time;

/// The program of a terminal host, and its surroundings.
#[derive(Debug)]
pub struct TerminalStart {
    /// The folder for its files.
    pub folder: TerminalFolder,
    /// Its id: letters, digits and hyphens.
    pub id: String,
    /// The program. It inherits the environment and the working folder of this process.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables that are added to its environment.
    pub env: Vec<(String, String)>,
    /// The working folder, for display.
    pub cwd: String,
    /// The first size of the terminal.
    pub size: TerminalSize,
}

/// Runs a terminal host until its program has ended. `ready` is called when viewers can connect.
///
/// The process must be used for nothing else: it becomes the leader of a session with a terminal of its own,
/// and adopts orphans. A runtime with one thread is enough.
pub async fn run(start: TerminalStart, ready: impl FnOnce(&TerminalRecord)) -> io::Result<TerminalExit> {
    let TerminalStart { folder, id, program, args, env, cwd, size } = start;
    // A process that already leads a session was separated by its parent.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    folder.create()?;
    folder.clean();
    let mut children = signal(SignalKind::child())?;
    let mut ends =
        [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?];
    let listener = folder.listen(&id)?;
    listener.set_nonblocking(true)?;
    let files = RemoveFiles(folder.clone(), id.clone());
    let mut command = Command::new(program);
    command.args(args).envs(env);
    let (master, pid) = pty::start(command, size.bounded())?;
    let number = u32::try_from(pid.as_raw_nonzero().get()).unwrap_or_default();
    let record = TerminalRecord {
        socket: format!("{id}.sock"),
        id,
        pid: number,
        proc_start: start_time(number),
        host_pid: std::process::id(),
        cwd,
    };
    folder.write(&record)?;
    rustix::io::ioctl_fionbio(&master, true)?;
    let output = pipe::Receiver::from_owned_fd_unchecked(master.try_clone()?)?;
    let input = pipe::Sender::from_owned_fd_unchecked(master.try_clone()?)?;
    let (terminal, keys) = Terminal::new(master, pid, size.bounded());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(read_output(Arc::clone(&terminal), output));
    tasks.spawn(write_keys(input, keys));
    tasks.spawn(accept(Arc::clone(&terminal), UnixListener::from_std(listener)?));
    ready(&record);
    let exit = loop {
        let [terminate, hangup, interrupt] = &mut ends;
        tokio::select! {
            _ = children.recv() => if let Some(exit) = reap(&terminal) { break exit },
            _ = terminate.recv() => hang_up(&terminal),
            _ = hangup.recv() => hang_up(&terminal),
            _ = interrupt.recv() => hang_up(&terminal),
        }
    };
    drain(&terminal);
    terminal.ended(exit);
    drop(files);
    drop(timeout(LAST_VIEWERS_WAIT, no_viewers(&terminal)).await);
    tasks.abort_all();
    Ok(exit)
}

/// Removes the files of the host, also if it fails.
struct RemoveFiles(TerminalFolder, String);

impl Drop for RemoveFiles {
    fn drop(&mut self) {
        self.0.remove(&self.1);
    }
}

async fn accept(terminal: Arc<Terminal>, listener: UnixListener) {
    let mut viewers = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = viewers.join_next() => {}
            accepted = listener.accept(), if viewers.len() < VIEWERS_MAX => match accepted {
                Ok((stream, _)) => drop(viewers.spawn(viewer::serve(Arc::clone(&terminal), stream))),
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a viewer");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
        }
    }
}

/// Connections at a time; more wait.
const VIEWERS_MAX: usize = 64;

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
fn reap(terminal: &Terminal) -> Option<TerminalExit> {
    let mut exit = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
        if pid != terminal.program {
            continue;
        }
        if status.stopped() {
            stopped(terminal, pid, status.stopping_signal());
        } else if status.exited() || status.signaled() {
            exit = Some(TerminalExit { code: status.exit_status(), signal: status.terminating_signal() });
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

/// Ends the program as a closed terminal does, and by force if it does not end.
fn hang_up(terminal: &Arc<Terminal>) {
    terminal.signal(Signal::HUP);
    terminal.signal(Signal::CONT);
    let terminal = Arc::clone(terminal);
    drop(tokio::spawn(async move {
        tokio::time::sleep(HANGUP_GRACE).await;
        terminal.signal(Signal::KILL);
    }));
}

async fn no_viewers(terminal: &Terminal) {
    while terminal.has_viewers() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
