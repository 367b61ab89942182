//! The sender of a hook message: our program, started by the CLI that it speaks for.
//!
//! The agent's own commands run as the same user and can connect to the same socket. Their parent is a shell,
//! or their program is another one. Paths are not compared: an upgrade moves another file to the path of a
//! running program, and a second installation has another path.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt as _;

use parking_lot::Mutex;
use tidings_transcript::running::RunningCli;

use crate::limits::{HOOK_PROGRAM_BYTES_MAX, HOOK_PROGRAMS_MAX};
use crate::process::{Process, ProcessStat};

/// The sentence by which every version of this program is recognised: its error about such senders.
pub(super) const SENTENCE: &str = "This message comes from no process of Claude Code that is known here";

/// Bytes of a program that are read at once.
const READ_BYTES: usize = 1 << 20;

/// The senders of hook messages.
#[derive(Debug, Default)]
pub(super) struct HookSenders {
    /// Programs that have sent messages: true for those that are ours.
    programs: Mutex<HashMap<ProgramFile, bool>>,
}

/// A file as it was at one time. Its content cannot change without one of these fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ProgramFile {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl ProgramFile {
    fn of(file: &Metadata) -> Self {
        ProgramFile {
            device: file.dev(),
            inode: file.ino(),
            bytes: file.len(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }
}

impl HookSenders {
    /// True if a process is a hook of a CLI: a child of exactly that process, which runs our program.
    /// Elsewhere than on Linux the user of the process is all that is known about it.
    ///
    /// Reads the program when it is new.
    pub(super) fn is_hook_of(&self, sender: Option<&Process>, cli: &RunningCli) -> bool {
        if !cfg!(target_os = "linux") {
            return true;
        }
        let Some(sender) = sender else { return false };
        // The ids may belong to other processes by now, so both processes are checked by their start times,
        // and the sender again after its program was read.
        let is_child = || {
            let stat = ProcessStat::read(sender.pid);
            stat.is_some_and(|stat| stat.process == *sender && stat.parent == cli.pid)
        };
        let is_cli = || {
            let now = Process::with_id(cli.pid);
            now.is_some_and(|now| cli.proc_start.as_ref() == Some(&now.start))
        };
        is_child() && is_cli() && self.runs_our_program(sender.pid).unwrap_or(false) && is_child()
    }

    /// True if a process runs this program, in any version and at any path, even if the file was replaced
    /// since.
    fn runs_our_program(&self, pid: u32) -> io::Result<bool> {
        let program = File::open(format!("/proc/{pid}/exe"))?;
        let file = ProgramFile::of(&program.metadata()?);
        if let Some(known) = self.programs.lock().get(&file) {
            return Ok(*known);
        }
        let is_ours = file == ProgramFile::of(&std::fs::metadata("/proc/self/exe")?)
            || contains(program.take(HOOK_PROGRAM_BYTES_MAX), SENTENCE.as_bytes())?;
        let mut programs = self.programs.lock();
        if programs.len() >= HOOK_PROGRAMS_MAX {
            programs.clear();
        }
        programs.insert(file, is_ours);
        Ok(is_ours)
    }
}

/// True if a text occurs in a file.
fn contains(mut file: impl Read, text: &[u8]) -> io::Result<bool> {
    let mut bytes = Vec::with_capacity(READ_BYTES + text.len());
    loop {
        let read = file.by_ref().take(READ_BYTES as u64).read_to_end(&mut bytes)?;
        if occurs(&bytes, text) {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        // The text may continue in the next part.
        bytes.drain(..bytes.len().saturating_sub(text.len() - 1));
    }
}

/// Horspool's algorithm: it steps by the length of the text, so that a program of 100 MB takes some
/// milliseconds.
fn occurs(bytes: &[u8], text: &[u8]) -> bool {
    let last = text.len() - 1;
    let mut steps = [text.len(); 256];
    for (at, byte) in text[..last].iter().enumerate() {
        steps[usize::from(*byte)] = last - at;
    }
    let mut end = last;
    while let Some(byte) = bytes.get(end) {
        if bytes[end - last..=end] == *text {
            return true;
        }
        end += steps[usize::from(*byte)];
    }
    false
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn cli(pid: u32, start: &str) -> RunningCli {
        let text = format!(r#"{{"pid":{pid},"sessionId":"s","procStart":"{start}"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    /// The test process stands for a hook, and its parent for the CLI.
    #[test]
    fn p31_a_hook_is_a_child_of_exactly_the_process_that_it_speaks_for() {
        let senders = HookSenders::default();
        let own = Process::with_id(std::process::id()).unwrap();
        let parent = Process::with_id(std::os::unix::process::parent_id()).unwrap();
        assert!(senders.is_hook_of(Some(&own), &cli(parent.pid, &parent.start)));
        assert!(!senders.is_hook_of(Some(&own), &cli(parent.pid, "1")), "the process id was used again");
        assert!(!senders.is_hook_of(Some(&own), &cli(own.pid, &own.start)), "another process");
        let unknown = serde_json::json!({"pid": parent.pid, "sessionId": "s"});
        let unknown: RunningCli = serde_json::from_value(unknown).unwrap();
        assert!(!senders.is_hook_of(Some(&own), &unknown), "no start time");
        assert!(!senders.is_hook_of(None, &cli(parent.pid, &parent.start)), "an unknown sender");
        let later = Process { start: "1".to_owned(), ..own };
        assert!(!senders.is_hook_of(Some(&later), &cli(parent.pid, &parent.start)), "the sender has exited");
    }

    #[test]
    fn p31_a_process_of_another_program_is_no_hook() {
        let own = Process::with_id(std::process::id()).unwrap();
        // It runs once it has written.
        let mut other = Command::new("sh");
        other.args(["-c", "echo; read x"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut other = other.spawn().unwrap();
        other.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let sender = Process::with_id(other.id()).unwrap();
        let senders = HookSenders::default();
        assert!(!senders.is_hook_of(Some(&sender), &cli(own.pid, &own.start)));
        assert_eq!(senders.programs.lock().values().collect::<Vec<_>>(), [&false]);
        drop(other.stdin.take());
        other.wait().unwrap();
    }

    #[test]
    fn p31_the_sentence_is_found_wherever_it_is() {
        let text = SENTENCE.as_bytes();
        let at = |position: usize| [&vec![b'T'; position][..], text, b"end"].concat();
        for position in
            [0, 1, 67, READ_BYTES - text.len(), READ_BYTES - 30, READ_BYTES - 1, 2 * READ_BYTES - 5]
        {
            assert!(contains(&at(position)[..], text).unwrap(), "{position}");
        }
        assert!(!contains(&at(10)[..40], text).unwrap());
        assert!(!contains(&vec![b'T'; 3 * READ_BYTES][..], text).unwrap());
        assert!(!contains(&b""[..], text).unwrap());
        // Parts of it in a row are not the sentence.
        assert!(!contains(&[&text[..40], text, &text[1..]].concat()[..39 + text.len()], text).unwrap());
    }
}
