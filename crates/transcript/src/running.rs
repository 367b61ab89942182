//! Processes of Claude Code that run now, as they describe themselves in the configuration folder.
//!
//! Each process keeps a file `sessions/<pid>.json` with its session and its status. A crashed one leaves its
//! file behind, so the process must exist too, and must have started when the file says. Other files in the
//! folder contain secrets and are not read.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::limits::RUNNING_FILE_BYTES_MAX;
use crate::open;

/// A process of Claude Code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunningCli {
    /// Its process id.
    #[serde(default)]
    pub pid: u32,
    /// The session that it holds now. It changes with `/clear`.
    pub session_id: String,
    /// Its working folder.
    #[serde(default)]
    pub cwd: PathBuf,
    /// The start time of the process, as the operating system counts it.
    #[serde(default)]
    pub proc_start: Option<String>,
    /// The version of the CLI.
    #[serde(default)]
    pub version: Option<String>,
    /// The kind of session: `interactive`, for example.
    #[serde(default)]
    pub kind: Option<String>,
    /// The program that started it: `cli`, or the name of an editor or an SDK.
    #[serde(default)]
    pub entrypoint: Option<String>,
    /// Its status: `idle`, `busy` or `waiting`. Earlier versions do not report one.
    #[serde(default)]
    pub status: Option<String>,
    /// The dialog that a waiting process shows: `permission prompt`, `input needed` or `dialog open`, for
    /// example.
    #[serde(default)]
    pub waiting_for: Option<String>,
    /// True for a process that `claude agents` keeps ready, whose session has not begun.
    #[serde(default)]
    pub spare: bool,
    /// The socket on which it takes messages of other sessions.
    #[serde(default)]
    pub messaging_socket_path: Option<PathBuf>,
}

impl RunningCli {
    /// The unknown process that writes a session file which grows. Its id is 0, and it is never alive.
    pub fn unknown(session_id: &str, cwd: PathBuf, entrypoint: Option<String>) -> Self {
        RunningCli {
            pid: 0,
            session_id: session_id.to_owned(),
            cwd,
            proc_start: None,
            version: None,
            // Files of earlier versions do not name the program.
            kind: entrypoint.as_deref().is_none_or(|name| name == "cli").then(|| "interactive".to_owned()),
            entrypoint: Some(entrypoint.unwrap_or_else(|| "cli".to_owned())),
            status: None,
            waiting_for: None,
            spare: false,
            messaging_socket_path: None,
        }
    }

    /// True for a session of `claude --bg`, which shows its dialogs to those who attach to it.
    pub fn is_background(&self) -> bool {
        self.kind.as_deref() == Some("bg")
    }

    /// The description with the start time of the process that has the id now, if the file does not have it.
    #[must_use]
    pub fn with_start(mut self) -> Self {
        if self.proc_start.is_none() {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok();
            self.proc_start = stat.as_deref().and_then(start_time).map(str::to_owned);
        }
        self
    }

    /// True if the process exists, and is the one that wrote the file. Without `/proc`, existence is not
    /// checked.
    pub fn is_alive(&self) -> bool {
        let Ok(fields) = fs::read_to_string(format!("/proc/{}/stat", self.pid)) else {
            return !Path::new("/proc/self").exists();
        };
        if has_exited(&fields) {
            return false;
        }
        match (&self.proc_start, start_time(&fields)) {
            (Some(said), Some(begun)) => said == begun,
            _ => true,
        }
    }
}

/// True if a process has exited, and its parent has not yet asked for its exit status.
fn has_exited(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with(['Z', 'X']))
}

/// Field 22 of `/proc/PID/stat`. The name of the program, in parentheses, may contain anything.
fn start_time(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ")?.1.split(' ').nth(19)
}

/// The status that a process reports now.
pub fn status(config_dir: &Path, running: &RunningCli) -> Option<String> {
    current(config_dir, running.pid)?.status
}

/// The process with an id, as it describes itself now.
pub fn current(config_dir: &Path, pid: u32) -> Option<RunningCli> {
    read(&config_dir.join("sessions").join(format!("{pid}.json"))).filter(RunningCli::is_alive)
}

/// True if a process still holds a session. Its file is rewritten in place: one that cannot be read now is no
/// proof of its end.
pub fn holds_session(config_dir: &Path, running: &RunningCli) -> bool {
    let path = config_dir.join("sessions").join(format!("{}.json", running.pid));
    let is_same = read(&path).is_none_or(|now| now.session_id == running.session_id);
    path.exists() && running.is_alive() && is_same
}

/// Lists the processes that use a configuration folder. A file that cannot be read is left out: it is
/// rewritten in place, and complete the next time.
pub fn list(config_dir: &Path) -> Vec<RunningCli> {
    let Ok(entries) = fs::read_dir(config_dir.join("sessions")) else { return Vec::new() };
    entries.flatten().filter_map(|entry| read(&entry.path())).filter(RunningCli::is_alive).collect()
}

fn read(path: &Path) -> Option<RunningCli> {
    let name: u32 = path.file_name()?.to_str()?.strip_suffix(".json")?.parse().ok()?;
    let mut text = String::new();
    open::regular(path).ok()?.take(RUNNING_FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let running: RunningCli = serde_json::from_str(&text).ok()?;
    let is_its_own = running.pid == name || running.pid == 0;
    is_its_own.then_some(RunningCli { pid: name, ..running })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder.join("sessions")).unwrap();
        fs::write(folder.join("sessions").join(name), text).unwrap();
    }

    /// The process of this test stands for a CLI.
    #[test]
    fn a_process_is_listed_while_it_exists_and_only_under_its_own_number() {
        let folder = tempfile::tempdir().unwrap();
        let pid = std::process::id();
        let of = |pid: u32, start: &str| {
            format!(
                r#"{{"pid":{pid},"sessionId":"s","cwd":"/srv","procStart":"{start}","status":"idle","new":1}}"#
            )
        };
        let fields = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let start = start_time(&fields).unwrap_or("1");
        write(folder.path(), &format!("{pid}.json"), &of(pid, start));
        write(folder.path(), "1.json", &of(pid, start));
        write(folder.path(), &format!("{pid}.secret.key"), "{}");
        write(folder.path(), "2.json", "{");
        let found = list(folder.path());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].session_id.as_str(), found[0].status.as_deref()), ("s", Some("idle")));
        let without = RunningCli { proc_start: None, ..found[0].clone() };
        assert!(without.is_alive(), "files of earlier versions have no start time");
        if Path::new("/proc/self").exists() {
            assert_eq!(without.with_start(), found[0]);
            write(folder.path(), &format!("{pid}.json"), &of(pid, "17"));
            assert_eq!(list(folder.path()), [], "another process has the number now");
        }
    }

    #[test]
    fn a_process_whose_exit_was_not_collected_is_not_alive() {
        assert!(has_exited("7 (a) b) Z 1 7"));
        assert!(!has_exited("7 (Z) S 1 7"));
    }

    #[test]
    fn the_start_time_is_found_behind_any_name() {
        let fields: Vec<String> = (3..30).map(|n| n.to_string()).collect();
        assert_eq!(start_time(&format!("7 (a) b) {}", fields.join(" "))), Some("22"));
        assert_eq!(start_time("nonsense"), None);
    }
}
