//! The thread that starts processes.
//!
//! On Linux a child can be made to end with its parent, but "parent" means the thread that started it. The
//! threads of a runtime come and go, so one thread that lives as long as the process starts all children.

use std::io;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use tokio::process::Child;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Commands in the queue; each takes milliseconds.
const WAITING_MAX: usize = 64;

struct SpawnJob {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

/// Starts a command. The child belongs to the calling runtime.
pub(crate) async fn spawn(command: Command) -> io::Result<Child> {
    let (reply, started) = oneshot::channel();
    let job = Box::new(SpawnJob { command, runtime: Handle::current(), reply });
    let sender = spawner_thread()?;
    // The thread is as fast as the system starts processes, so a full queue justifies a blocking thread.
    tokio::task::spawn_blocking(move || sender.send(job)).await?.map_err(|_| io::ErrorKind::BrokenPipe)?;
    started.await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?
}

fn spawner_thread() -> io::Result<SyncSender<Box<SpawnJob>>> {
    static SENDER: OnceLock<SyncSender<Box<SpawnJob>>> = OnceLock::new();
    if let Some(sender) = SENDER.get() {
        return Ok(sender.clone());
    }
    let (sender, jobs) = sync_channel::<Box<SpawnJob>>(WAITING_MAX);
    let main = move || {
        #[cfg(target_os = "linux")]
        let mut watchdog = super::watchdog::Watchdog::default();
        while let Ok(job) = jobs.recv() {
            #[cfg(target_os = "linux")]
            watchdog.start();
            let SpawnJob { command, runtime, reply } = *job;
            drop(reply.send(start(command, &runtime)));
        }
    };
    // If two threads are started at once, the second has no jobs and ends at once.
    drop(thread::Builder::new().name("tidings-spawner".to_owned()).spawn(main)?);
    Ok(SENDER.get_or_init(|| sender).clone())
}

fn start(command: Command, runtime: &Handle) -> io::Result<Child> {
    let _inside = runtime.enter();
    let mut command = tokio::process::Command::from(command);
    #[cfg(target_os = "linux")]
    super::parent_death::terminate_with_parent(&mut command);
    #[cfg(not(unix))]
    command.kill_on_drop(true);
    command.spawn()
}
