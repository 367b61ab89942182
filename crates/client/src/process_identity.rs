//! Processes of this machine, told from later ones with the same id.

use serde::{Deserialize, Serialize};

/// A process and its start time. Without the start time, a later process may have the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProcessIdentity {
    /// The process id.
    pub pid: u32,
    /// Clock ticks between the start of the machine and that of the process, where the system has `/proc`.
    #[serde(default)]
    pub start: Option<String>,
}

impl ProcessIdentity {
    /// The process that has an id now.
    pub(crate) fn of(pid: u32) -> Self {
        ProcessIdentity { pid, start: start_time(pid) }
    }

    /// This process.
    pub(crate) fn own() -> Self {
        Self::of(std::process::id())
    }

    /// True if the process runs. One without a known start time counts as ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.start.is_some() && start_time(self.pid) == self.start
    }
}

/// The start time of a process that runs; none where there is no `/proc`.
pub(crate) fn start_time(pid: u32) -> Option<String> {
    parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name of the program, in parentheses, may contain anything; the other fields follow it. A process that
/// has exited, and was not waited for, counts as ended.
fn parse(stat: &str) -> Option<String> {
    let fields = stat.rsplit_once(") ")?.1;
    if fields.starts_with(['Z', 'X']) {
        return None;
    }
    fields.split(' ').nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_a_later_one_with_its_id() {
        let fields: Vec<String> = (4..30).map(|field| field.to_string()).collect();
        let stat = |state: &str| format!("7 (a) b) {state} {}", fields.join(" "));
        assert_eq!(parse(&stat("S")).as_deref(), Some("22"));
        assert_eq!(parse(&stat("Z")), None, "it has exited");
        assert_eq!(parse("7 (a"), None);
        let own = ProcessIdentity::own();
        assert_eq!(own.is_alive(), cfg!(target_os = "linux"));
        assert!(!ProcessIdentity { start: Some("1".to_owned()), ..own.clone() }.is_alive());
        assert!(!ProcessIdentity { start: None, ..own }.is_alive());
    }
}
