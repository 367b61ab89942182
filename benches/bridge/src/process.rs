//! Processor time and memory of processes, as the kernel counts them.

use std::fs;
use std::time::Duration;

use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

use crate::Failure;

/// The processor time of a process so far, of all its threads, without its children.
pub(crate) fn cpu_ms(pid: u32) -> Result<f64, Failure> {
    // The clock of the process counts nanoseconds; `/proc/PID/stat` counts hundredths of a second.
    let clock = clock_getcpuclockid(Pid::from_raw(pid.try_into()?))?;
    Ok(Duration::from(clock.now()?).as_secs_f64() * 1e3)
}

/// Memory of a process in MiB.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    /// All of it, including pages that it shares with other processes, such as the code of the program.
    pub(crate) resident: f64,
    /// Pages that it does not share.
    pub(crate) private: f64,
}

pub(crate) fn memory(pid: u32) -> Result<Memory, Failure> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let mib = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let kib =
            line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kib| kib.parse::<f64>().ok());
        kib.unwrap_or_default() / 1024.0
    };
    Ok(Memory { resident: mib("Rss:"), private: mib("Private_Clean:") + mib("Private_Dirty:") })
}

/// The descendants of a process.
pub(crate) fn below(pid: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent =
            stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        parents.extend(parent.map(|parent| (child, parent)));
    }
    let (mut found, mut at) = (vec![pid], 0);
    while at < found.len() {
        let parent = found[at];
        found.extend(parents.iter().filter(|(_, its)| *its == parent).map(|(child, _)| *child));
        at += 1;
    }
    found.split_off(1)
}

/// Processes whose command line contains these words.
pub(crate) fn called(words: &[&str]) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if words.iter().all(|word| line.contains(word)) {
            found.push(pid);
        }
    }
    found
}
