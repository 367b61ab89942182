//! `tidings hook run EVENT`: the hook that Claude Code runs. Not for users.
//!
//! Claude Code waits for most hooks, so this command starts before the command line is parsed, uses blocking
//! sockets, and gives up early. Failures are silent: a broken server must not break a session.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{Pid, getppid};
use serde::Deserialize;
use serde_json::value::RawValue;
use tidings_commands::sessions::RootArgs;

use super::client::{Endpoint, Failure, Hold, Request};
use super::ignore;
use super::inline::{TERMINAL_HOST, VIA};

/// Longest hook input. A tool call may contain a whole file, and its result another one.
const INPUT_BYTES_MAX: u64 = 32 << 20;

/// The only event whose answer a person may give; its connection stays open until then.
const PERMISSION_REQUEST: &str = "PermissionRequest";

/// Variable that is set in sessions that the server itself hosts and reports.
const OWN_SESSION: &str = "TIDINGS_SESSION";

/// Time for a reply of the server, unless the flag `--reply-ms` has another.
const REPLY_TIME: Duration = Duration::from_millis(100);

/// The same for a permission request at whose dialog a person is: the dialog is open meanwhile, so that
/// nothing waits for the hook.
const REPLY_TIME_BESIDE_DIALOG: Duration = Duration::from_secs(5);

/// Value of the variable that says if a person is at the session.
const ATTENDED: &str = "1";

/// File in the data folder that is touched when the server did not reply in time.
const BACKOFF: &str = "hook-backoff";

/// Time after such a failure in which hooks do not connect.
const BACKOFF_TIME: Duration = Duration::from_secs(10);

/// Keys of the request's `env`, and the variables with their values.
const VARIABLES: [(&str, &str); 6] = [
    ("attended", "CLAUDE_CODE_SESSION_ATTENDED"),
    ("entrypoint", "CLAUDE_CODE_ENTRYPOINT"),
    ("config_dir", "CLAUDE_CONFIG_DIR"),
    ("tmux", "TMUX"),
    ("tmux_pane", "TMUX_PANE"),
    ("pid", "CLAUDE_PID"),
];

/// Passes one hook event to the server and prints its answer. The exit code is always 0.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let parent = getppid();
    end_with_parent();
    if parent != getppid() {
        return ExitCode::SUCCESS;
    }
    let answer = HookCall::parse(args).and_then(|call| call.answer(parent));
    match answer {
        Some(answer) => {
            let mut stdout = io::stdout().lock();
            // If standard output is closed, Claude Code no longer wants the answer.
            drop(stdout.write_all(&answer).and_then(|()| stdout.flush()));
        }
        // Claude Code may still be writing the input, and reports a broken pipe as a failed hook.
        None => drop(io::copy(&mut io::stdin().lock().take(INPUT_BYTES_MAX), &mut io::sink())),
    }
    ExitCode::SUCCESS
}

/// Lets the system end this process when its parent ends: a killed Claude Code signals no hook.
fn end_with_parent() {
    // It fails for invalid signals only.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}

/// Arguments of `tidings hook run`.
struct HookCall {
    event: String,
    data: PathBuf,
    reply_time: Duration,
    /// True for a hook that `tidings claude` passed to its session.
    is_inline: bool,
    /// True if the CLI shows a dialog while the hook runs, and does not wait for it.
    is_beside_dialog: bool,
}

/// The part of a hook input that the hook itself needs.
#[derive(Deserialize)]
struct HookInput {
    cwd: Option<String>,
}

impl HookCall {
    fn parse(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let event = args.next()?.into_string().ok()?;
        // It becomes a part of the request's path.
        if event.is_empty() || !event.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let (mut data, mut reply_time, mut is_inline) = (None, None, false);
        while let Some(flag) = args.next() {
            let value = args.next()?;
            match flag.to_str()? {
                "--data" => data = Some(PathBuf::from(value)),
                // For tests on busy machines.
                "--reply-ms" => reply_time = Some(Duration::from_millis(value.to_str()?.parse().ok()?)),
                VIA => is_inline = true,
                _ => return None,
            }
        }
        let is_attended = env::var("CLAUDE_CODE_SESSION_ATTENDED").is_ok_and(|value| value == ATTENDED);
        let is_beside_dialog = event == PERMISSION_REQUEST && is_attended;
        let usual = if is_beside_dialog { REPLY_TIME_BESIDE_DIALOG } else { REPLY_TIME };
        let (data, reply_time) = (data.or_else(RootArgs::data_folder)?, reply_time.unwrap_or(usual));
        Some(HookCall { event, data, reply_time, is_inline, is_beside_dialog })
    }

    /// Returns the server's answer; none if there is none, whatever the reason.
    fn answer(&self, parent: Option<Pid>) -> Option<Vec<u8>> {
        let is_own = env::var_os(OWN_SESSION).is_some_and(|value| !value.is_empty());
        if is_own || self.is_second(parent) || (self.backs_off() && !self.is_beside_dialog) {
            return None;
        }
        let endpoint = Endpoint::of(&self.data);
        if !endpoint.socket.exists() {
            return None;
        }
        let mut input = Vec::new();
        io::stdin().lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut input).ok()?;
        if input.len() as u64 > INPUT_BYTES_MAX || self.ignores(&input)? {
            return None;
        }
        let hold = if self.event == PERMISSION_REQUEST { Hold::UntilAnswered { parent } } else { Hold::No };
        let path = format!("/v1/hooks/{}", self.event);
        let tail = format!(",\"env\":{}}}", environment());
        let body: [&[u8]; 3] = [b"{\"input\":", &input, tail.as_bytes()];
        let request = Request { method: "POST", path: &path, body, reply_time: self.reply_time };
        match endpoint.send(&request, hold) {
            Ok(body) => is_json(&body).then_some(body),
            Err(Failure::NoReply) => {
                self.begin_backoff();
                None
            }
            Err(Failure::Other) => None,
        }
    }

    /// True for an installed hook in a session that has hooks from `tidings claude`: those report everything.
    ///
    /// A `claude` that an agent starts inherits the variable, but has another parent.
    fn is_second(&self, parent: Option<Pid>) -> bool {
        let host = env::var(TERMINAL_HOST).ok().and_then(|host| host.parse::<u32>().ok());
        let Some(host) = host.filter(|_| !self.is_inline) else { return false };
        let parent = parent.and_then(|parent| u32::try_from(parent.as_raw_nonzero().get()).ok());
        parent.and_then(parent_of).is_none_or(|grandparent| grandparent == host)
    }

    /// True if the server did not reply to a hook a moment ago.
    fn backs_off(&self) -> bool {
        let touched = self.data.join(BACKOFF).metadata().and_then(|found| found.modified());
        // A time in the future comes from a clock that was set back.
        touched.ok().and_then(|touched| touched.elapsed().ok()).is_some_and(|age| age < BACKOFF_TIME)
    }

    fn begin_backoff(&self) {
        // Without the file, the next hook waits for the server again.
        drop(std::fs::write(self.data.join(BACKOFF), "The server did not reply to a hook in time.\n"));
    }

    /// True if the session works in an ignored folder; none if the input is not a JSON object.
    fn ignores(&self, input: &[u8]) -> Option<bool> {
        let is_object = input.trim_ascii_start().starts_with(b"{");
        let HookInput { cwd } = serde_json::from_slice(input).ok().filter(|_| is_object)?;
        let Some(cwd) = cwd else { return Some(false) };
        Some(ignore::read(&self.data).iter().any(|folder| cwd_is_below(&cwd, folder)))
    }
}

/// The process that started a process, where the system has it in `/proc`.
fn parent_of(pid: u32) -> Option<u32> {
    let fields = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    fields.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn cwd_is_below(cwd: &str, folder: &std::path::Path) -> bool {
    std::path::Path::new(cwd).starts_with(folder)
}

/// The request's `env`, as JSON. Variables that are not set are left out.
fn environment() -> String {
    let mut fields = Vec::new();
    for (key, variable) in VARIABLES {
        let Some(value) = env::var_os(variable) else { continue };
        let value = String::from_utf8_lossy(value.as_bytes());
        // Strings always encode.
        fields.push(format!("\"{key}\":{}", serde_json::to_string(&value).unwrap_or_default()));
    }
    format!("{{{}}}", fields.join(","))
}

/// True if the body is one JSON value. Claude Code takes other output as text for the model, and a server
/// that was killed may have sent half of an answer.
fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(body).is_ok()
}
