//! Ties a child to the lifetime of this process. The only `unsafe` of the crate.

use std::io;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use tokio::process::Command;

/// Makes the kernel send SIGTERM to the child when the thread that starts it ends, which here is when the
/// process ends.
///
/// Must be called on that thread.
#[expect(
    unsafe_code,
    reason = "a hook between fork and exec cannot be set safely, and nothing else survives kill -9"
)]
pub(super) fn terminate_with_parent(command: &mut Command) {
    let parent = getpid();
    let hook = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // If the parent died before the call above, the signal will not be sent any more.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(io::ErrorKind::BrokenPipe)) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. The hook makes two system
    // calls, compares two numbers, and allocates nothing: errors of the system and of a kind are plain
    // numbers.
    unsafe {
        command.pre_exec(hook);
    }
}
