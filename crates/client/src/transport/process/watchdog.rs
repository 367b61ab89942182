//! A second process that outlives this one by some seconds.
//!
//! If this process is killed, it cannot stop what it started: the CLI gets SIGTERM (see `parent_death`), but
//! may ignore it, and processes of its tools in their own sessions get no signal. So a shell waits on a pipe
//! that only this process holds. When the pipe ends, for whatever reason, it finds the processes that carry
//! our mark in their environment, sends SIGTERM, and after some seconds SIGKILL. Processes without the mark
//! are not touched.

use std::process::{Child, Command, Stdio};

use super::command::{OWNER, host_mark};

/// The script of the shell; `$1` is the mark. Sends SIGTERM, waits up to four seconds, and sends SIGKILL.
const SCRIPT: &str = r#"
while read -r _; do :; done
each() {
    none=1
    for place in $(grep -lsaF -e "$2" /proc/[0-9]*/environ); do
        pid=${place#/proc/}
        kill "-$1" "${pid%/environ}" 2>/dev/null && none=0
    done
    return $none
}
each TERM "$1" || exit 0
for _ in 1 2 3 4; do
    sleep 1
    each 0 "$1" || exit 0
done
each KILL "$1"
"#;

#[derive(Debug, Default)]
pub(super) struct Watchdog {
    child: Option<Child>,
}

/// The process id of the running watchdog.
#[cfg(feature = "host")]
static PID: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// The process id of the running watchdog, which does not count as a leftover of a session.
#[cfg(feature = "host")]
pub(crate) fn pid() -> Option<u32> {
    Some(PID.load(std::sync::atomic::Ordering::Relaxed)).filter(|pid| *pid != 0)
}

impl Watchdog {
    /// Starts the watchdog unless it runs. A machine without a shell has none.
    pub(super) fn start(&mut self) {
        use std::os::unix::process::CommandExt as _;

        let runs = self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)));
        if runs {
            return;
        }
        let mut command = Command::new("/bin/sh");
        // The mark ends with the colon, so that it matches all sessions of this process and no other.
        command.args(["-c", SCRIPT, "tidings-watchdog", &format!("{OWNER}={}:", host_mark())]);
        // It must not carry the mark of another host, in whose session we may be running.
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(child) => {
                #[cfg(feature = "host")]
                PID.store(child.id(), std::sync::atomic::Ordering::Relaxed);
                self.child = Some(child);
            }
            Err(error) => tracing::warn!(%error, "no watchdog: agents may survive if this process is killed"),
        }
    }
}
