//! Processes of this machine, as `/proc` describes them.

use std::fs;

/// A process, distinguished from later ones with the same id by its start time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub(crate) pid: u32,
    /// Clock ticks between the start of the machine and that of the process, as text.
    pub(crate) start: String,
}

/// A process and the process that started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) process: Process,
    pub(crate) parent: u32,
}

impl Process {
    /// The process that has this id now; none where there is no `/proc`.
    pub fn with_id(pid: u32) -> Option<Self> {
        ProcessStat::read(pid).map(|stat| stat.process)
    }
}

impl ProcessStat {
    /// Reads `/proc/PID/stat`. A process that has exited is none.
    pub(crate) fn read(pid: u32) -> Option<Self> {
        parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }
}

/// The name of the program, in parentheses, may contain anything; the other fields follow it.
fn parse(pid: u32, text: &str) -> Option<ProcessStat> {
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    if matches!(fields.first(), Some(&("Z" | "X"))) {
        return None;
    }
    let start = (*fields.get(19)?).to_owned();
    Some(ProcessStat { process: Process { pid, start }, parent: fields.get(1)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_found_behind_any_name() {
        let fields = |state: &str| {
            let numbers: Vec<String> = (4..30).map(|field| field.to_string()).collect();
            format!("7 (a) b) {state} {}", numbers.join(" "))
        };
        let process = Process { pid: 7, start: "22".to_owned() };
        assert_eq!(parse(7, &fields("S")), Some(ProcessStat { process, parent: 4 }));
        assert_eq!(parse(7, &fields("Z")), None, "it has exited");
        assert_eq!(parse(7, "7 (a"), None);
    }
}
