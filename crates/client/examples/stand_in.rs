//! A `claude` that plays a script: `stand_in SCRIPT CONFIG_DIR [CLAUDE ARGUMENTS…]`.
//!
//! The tests of this crate start it in place of the real CLI. A program that uses `tidings` can be tested the
//! same way; `tidings rehearse agent` is the same as a ready command.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use tidings_rehearsal::agent::{self, Ids, Signal, States, World};
use tidings_rehearsal::script::Script;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(script), Some(config_dir)) = (arguments.next(), arguments.next()) else {
        return ExitCode::from(2);
    };
    let Some(script) = std::fs::read_to_string(script).ok().and_then(|text| Script::parse(&text).ok()) else {
        return ExitCode::from(3);
    };
    let world = World {
        stdin: Box::new(std::io::stdin()),
        stdout: Box::new(std::io::stdout()),
        stderr: Box::new(std::io::stderr()),
        cwd: std::env::current_dir().unwrap_or_default(),
        config_dir: config_dir.into(),
        clock: Box::new(now_ms),
        ids: Ids::random(),
        pid: std::process::id(),
        terminal: false,
        retries_max: 1,
        states: States::ForSdk,
        signals: Some(signals()),
        raise: Box::new(raise),
    };
    let arguments: Vec<String> = arguments.collect();
    ExitCode::from(agent::run(&arguments, script, world).to_le_bytes()[0])
}

#[expect(clippy::disallowed_methods, reason = "the only place that reads the clock")]
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Receives SIGTERM as a message, so that a script can ignore it.
fn signals() -> Receiver<Signal> {
    let (sender, receiver) = sync_channel(8);
    drop(std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        runtime.map(|runtime| runtime.block_on(forward(&sender)))
    }));
    receiver
}

#[cfg(unix)]
async fn forward(sender: &SyncSender<Signal>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    while terminate.recv().await.is_some() && sender.send(Signal::Terminate).is_ok() {}
    Ok(())
}

#[cfg(not(unix))]
async fn forward(sender: &SyncSender<Signal>) -> std::io::Result<()> {
    tokio::signal::ctrl_c().await?;
    drop(sender.send(Signal::Interrupt));
    Ok(())
}

/// Calls the program `kill`, since sending a signal needs `unsafe` or another crate.
fn raise(signal: i32) {
    let pid = std::process::id().to_string();
    drop(std::process::Command::new("kill").arg(format!("-{signal}")).arg(pid).status());
}
