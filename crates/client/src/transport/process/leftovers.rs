//! Finds processes that a session left behind, by their mark or by their ancestors.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use super::command::OWNER;

/// A process id with its start time, which tells it from a later process with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProcessId {
    pid: u32,
    started: u64,
}

/// Fields of `/proc/<pid>/stat`.
struct Stat {
    parent: u32,
    started: u64,
    zombie: bool,
    #[cfg(feature = "host")]
    stopped: bool,
}

impl ProcessId {
    /// The process that has this id now.
    pub(crate) fn now(pid: u32) -> Option<Self> {
        Some(ProcessId { pid, started: stat(pid)?.started })
    }

    /// True if the process still runs and is not a zombie.
    pub(crate) fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started == self.started && !stat.zombie)
    }

    /// The process id.
    #[cfg(feature = "host")]
    pub(crate) fn pid(self) -> u32 {
        self.pid
    }

    pub(crate) fn signal(self, signal: Signal) {
        if self.is_alive()
            && let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw)
        {
            // It may have ended meanwhile, or belong to another user by now.
            let _ = kill_process(pid, signal);
        }
    }
}

/// All processes that carry the mark, and all descendants of `root`.
///
/// A tool may start a process in its own session, which no signal to a group reaches; and when its parent is
/// gone, it is no descendant of `root` either. The mark is inherited by all processes that do not clear their
/// environment.
pub(crate) fn of_session(owner: &str, root: Option<u32>) -> BTreeSet<ProcessId> {
    let mark = format!("{OWNER}={owner}");
    let mut found = BTreeSet::new();
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in pids() {
        let Some(stat) = stat(pid) else { continue };
        children.entry(stat.parent).or_default().push(pid);
        if !stat.zombie && carries(pid, mark.as_bytes()) {
            found.insert(ProcessId { pid, started: stat.started });
        }
    }
    let mut ahead: Vec<u32> = root.into_iter().collect();
    while let Some(pid) = ahead.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.extend(ProcessId::now(child));
            ahead.push(child);
        }
    }
    found.retain(|process| Some(process.pid) != root && process.pid != std::process::id());
    found
}

/// True if the process is stopped by a signal.
#[cfg(feature = "host")]
pub(crate) fn is_stopped(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.stopped)
}

/// The process that has started this one, or has adopted it.
#[cfg(feature = "terminal")]
pub(crate) fn parent_of(pid: u32) -> Option<u32> {
    stat(pid).map(|stat| stat.parent)
}

/// Children of this process that are zombies.
#[cfg(feature = "host")]
pub(crate) fn ended_children() -> Vec<u32> {
    let mine = |pid: &u32| stat(*pid).is_some_and(|stat| stat.zombie && stat.parent == std::process::id());
    pids().filter(mine).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn carries(pid: u32, mark: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark)
}

/// Reads `/proc/<pid>/stat`. The name of the program is in parentheses and may itself contain some.
fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after = text.rsplit_once(')')?.1;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // The state is field 3, the start time is field 22.
    let started = fields.nth(17)?.parse().ok()?;
    Some(Stat {
        parent,
        started,
        zombie: matches!(state, "Z" | "X"),
        #[cfg(feature = "host")]
        stopped: matches!(state, "T" | "t"),
    })
}
