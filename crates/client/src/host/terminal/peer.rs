//! The process at the other end of a connection.

#[cfg(target_os = "linux")]
use crate::transport::process::leftovers::parent_of;

/// True if a process was started by the program in the terminal, or is not known: its keys would answer the
/// program's dialogs.
pub(in crate::host) fn is_below(peer: Option<i32>) -> bool {
    match peer.and_then(|pid| u32::try_from(pid).ok()) {
        // A process that is gone may have been one of the terminal's.
        Some(pid) => descends_from(pid, std::process::id()) != Some(false),
        // Not every system tells.
        None => cfg!(target_os = "linux"),
    }
}

/// True if a process, or one that started it, has this number. `None` if one of them is gone.
fn descends_from(pid: u32, ancestor: u32) -> Option<bool> {
    let mut pid = pid;
    for _ in 0..ANCESTORS_MAX {
        if pid == ancestor {
            return Some(true);
        }
        pid = parent_of(pid)?;
        if pid <= 1 {
            return Some(false);
        }
    }
    None
}

/// Elsewhere the parents of a process are not known here.
#[cfg(not(target_os = "linux"))]
fn parent_of(_: u32) -> Option<u32> {
    Some(0)
}

/// The table of processes may change while it is read, so a loop is possible.
const ANCESTORS_MAX: usize = 1000;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn children_of_children_descend_from_a_process() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(descends_from(child.id(), own), Some(true));
        assert_eq!(descends_from(own, child.id()), Some(false));
        assert_eq!(descends_from(own, std::os::unix::process::parent_id()), Some(true));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(descends_from(child.id(), own), None, "it is gone, so it is refused");
    }
}
