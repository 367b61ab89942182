//! The process at the other end of a connection.

use tokio::net::UnixStream;

/// Refuses other users, and processes that the program in the terminal has started: their keys would answer
/// its dialogs.
pub(super) fn is_allowed(stream: &UnixStream) -> bool {
    let Ok(peer) = stream.peer_cred() else { return false };
    if peer.uid() != rustix::process::geteuid().as_raw() {
        return false;
    }
    match peer.pid().and_then(|pid| u32::try_from(pid).ok()) {
        Some(pid) => !descends_from(pid, std::process::id()),
        // Not every system tells.
        None => !cfg!(target_os = "linux"),
    }
}

/// True if a process, or one that started it, has this number. Without `/proc` nothing is known.
fn descends_from(pid: u32, ancestor: u32) -> bool {
    let parent = |pid: u32| -> Option<u32> {
        let fields = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        fields.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let above = std::iter::successors(Some(pid), |pid| parent(*pid).filter(|parent| *parent > 1));
    above.take(ANCESTORS_MAX).any(|pid| pid == ancestor)
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
        assert!(descends_from(child.id(), own));
        assert!(!descends_from(own, child.id()));
        assert!(descends_from(own, std::os::unix::process::parent_id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
