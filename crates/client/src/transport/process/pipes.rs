//! The three pipes of a child process, and its exit.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_core::future::BoxFuture;
use tempfile::TempDir;
use tidings_protocol::Frame;
use tidings_protocol::messages::SystemView;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::stdout::{CHUNK_BYTES, Stdout};
use super::stop::ProcessStop;
use crate::limits::{CLOSE_GRACE, DRAIN, STDERR_LINE_BYTES_MAX};
use crate::session_lock::AgentLock;
use crate::transport::{Exit, Incoming, Lines, Outgoing, Stop as _};

/// Reads the output of a child until it has ended.
pub(super) struct Pipes {
    pub(super) stop: Arc<ProcessStop>,
    pub(super) events: mpsc::Sender<Incoming>,
    /// Removed when the child has ended.
    pub(super) files: Option<TempDir>,
    pub(super) line_bytes_max: usize,
    pub(super) lock: Arc<AgentLock>,
}

impl Pipes {
    pub(super) async fn run(self, mut child: Child) {
        let read = Arc::new(AtomicU64::new(0));
        let stdout = child.stdout.take().map(|stdout| {
            let lines = Lines::new(self.line_bytes_max);
            let writer = SessionNotes { lock: Arc::clone(&self.lock), stop: Arc::clone(&self.stop) };
            tokio::spawn(read_stdout(stdout, lines, self.events.clone(), Arc::clone(&read), writer))
        });
        let stderr = child.stderr.take().map(|stderr| tokio::spawn(read_stderr(stderr, self.events.clone())));
        let status = self.wait(&mut child).await;
        self.stop.ended();
        let pipes = [stdout, stderr].into_iter().flatten();
        drain(pipes.collect(), &read).await;
        drop(self.files);
        // Before the exit is known: the next agent of the session may be started then.
        self.lock.release();
        // The session may be gone already.
        drop(self.events.send(Incoming::Exit(status)).await);
    }

    #[cfg(unix)]
    async fn wait(&self, child: &mut Child) -> Exit {
        use std::os::unix::process::ExitStatusExt as _;
        match child.wait().await {
            Ok(status) => Exit { code: status.code(), signal: status.signal() },
            Err(_) => Exit::default(),
        }
    }

    #[cfg(not(unix))]
    async fn wait(&self, child: &mut Child) -> Exit {
        let status = tokio::select! {
            status = child.wait() => status,
            () = self.stop.killed() => {
                drop(child.start_kill());
                child.wait().await
            }
        };
        status.map_or_else(|_| Exit::default(), |status| Exit { code: status.code(), signal: None })
    }
}

/// Reads the remaining output. A grandchild may hold the pipes open for ever, so this stops when nothing more
/// arrives.
async fn drain(mut pipes: Vec<JoinHandle<()>>, read: &AtomicU64) {
    let end = tokio::time::Instant::now() + CLOSE_GRACE;
    for pipe in &mut pipes {
        loop {
            let before = read.load(Ordering::Relaxed);
            let done = tokio::time::timeout(DRAIN, &mut *pipe).await.is_ok();
            if done || read.load(Ordering::Relaxed) == before || tokio::time::Instant::now() >= end {
                break;
            }
        }
        pipe.abort();
    }
}

/// Notes which session an agent writes.
struct SessionNotes {
    lock: Arc<AgentLock>,
    stop: Arc<ProcessStop>,
}

impl SessionNotes {
    /// Notes the session of a frame. Returns the event in place of the frame if another process writes that
    /// session: the agent is stopped before it answers.
    fn check(&self, event: Incoming) -> Incoming {
        let Incoming::Frame { frame, .. } = &event else { return event };
        let Some(id) = started_session(frame) else { return event };
        match self.lock.note_session(&id) {
            Ok(()) => event,
            Err(error) => {
                self.stop.kill();
                Incoming::Stderr(format!("{error}: {}", error.hint()))
            }
        }
    }
}

/// The session that a `system/init` frame reports.
fn started_session(frame: &Frame) -> Option<String> {
    let is_init = matches!(frame.system(), SystemView::Init(_));
    let id = is_init.then(|| frame.session_id()).flatten()?;
    Some(id.into_owned())
}

async fn read_stdout(
    stdout: ChildStdout,
    mut lines: Lines,
    events: mpsc::Sender<Incoming>,
    read: Arc<AtomicU64>,
    writer: SessionNotes,
) {
    let Ok(mut stdout) = Stdout::new(stdout) else { return };
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = match stdout.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        read.fetch_add(1, Ordering::Relaxed);
        lines.push(&chunk[..count]);
        while let Some(event) = lines.next() {
            if events.send(writer.check(event)).await.is_err() {
                return;
            }
        }
    }
    if let Some(event) = lines.finish() {
        drop(events.send(event).await);
    }
}

async fn read_stderr(stderr: ChildStderr, events: mpsc::Sender<Incoming>) {
    let mut stderr = BufReader::new(stderr);
    while let Some(line) = line(&mut stderr).await {
        if events.send(Incoming::Stderr(line)).await.is_err() {
            return;
        }
    }
}

/// One line of text, decoded lossily; a long one is returned in parts.
pub(crate) async fn line<R: AsyncRead + Unpin>(reader: &mut BufReader<R>) -> Option<String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(STDERR_LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let count = reader.take(limit).read_until(b'\n', &mut bytes).await.ok()?;
    (count > 0).then(|| String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned())
}

/// The input of the child.
#[derive(Debug)]
pub(super) struct Stdin {
    pipe: Option<ChildStdin>,
    line: Vec<u8>,
}

impl Stdin {
    pub(super) fn new(pipe: Option<ChildStdin>) -> Self {
        Stdin { pipe, line: Vec::new() }
    }
}

impl Outgoing for Stdin {
    fn send<'a>(&'a mut self, line: &'a str) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            let pipe = self.pipe.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            self.line.clear();
            self.line.extend_from_slice(line.as_bytes());
            self.line.push(b'\n');
            let written = pipe.write_all(&self.line).await;
            self.line.shrink_to(CHUNK_BYTES);
            written?;
            pipe.flush().await
        })
    }

    fn end(&mut self) -> BoxFuture<'_, io::Result<()>> {
        // Dropping the pipe closes it.
        drop(self.pipe.take());
        Box::pin(async { Ok(()) })
    }
}
