//! Commands that an agent runs through us.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tidings_acp::adapter::TerminalRequest;
use tidings_acp::limits::{TERMINAL_BYTES_MAX, TERMINALS_MAX};
use tidings_acp::rpc::{Id, RpcError};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::sync::{mpsc, watch};

use super::Done;
use super::files::Folders;

/// The commands of a session, which end with it.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    by_id: BTreeMap<String, Terminal>,
    /// Variables of all of them.
    pub(super) variables: Vec<(OsString, OsString)>,
}

#[derive(Debug)]
struct Terminal {
    group: Option<u32>,
    output: Arc<Mutex<KeptOutput>>,
    exit: watch::Receiver<Option<Value>>,
}

/// The end of a command's output.
#[derive(Debug)]
struct KeptOutput {
    bytes: Vec<u8>,
    limit: usize,
    is_cut: bool,
}

/// The answer to a request, if there is one now.
type Answer = Option<(Id, Result<Value, RpcError>)>;

impl Terminals {
    /// Performs a request. Waiting for the end of a command answers later, through `done`.
    pub(super) fn perform(
        &mut self,
        request: TerminalRequest,
        folders: &Folders,
        done: &mpsc::Sender<Done>,
    ) -> Answer {
        let (id, result) = match request {
            TerminalRequest::Create { id, terminal, command, args, env, cwd, output_bytes } => {
                let limit = output_bytes.and_then(|bytes| usize::try_from(bytes).ok());
                let limit = limit.map_or(TERMINAL_BYTES_MAX, |limit| limit.min(TERMINAL_BYTES_MAX));
                let folder =
                    cwd.as_deref().map_or_else(|| Ok(folders.first().to_owned()), |cwd| folders.folder(cwd));
                let created = folder.and_then(|folder| self.create(&command, &args, env, folder, limit));
                let result = created.map(|created| {
                    self.by_id.insert(terminal.clone(), created);
                    json!({"terminalId": terminal})
                });
                (id, result)
            }
            TerminalRequest::Output(id, terminal) => (id, self.get(&terminal).map(Terminal::output)),
            TerminalRequest::WaitForExit(id, terminal) => match self.get(&terminal) {
                Ok(terminal) => {
                    let (mut exit, done) = (terminal.exit.clone(), done.clone());
                    drop(tokio::spawn(async move {
                        let status = exit.wait_for(Option::is_some).await.ok().and_then(|exit| exit.clone());
                        let status = status.unwrap_or_else(|| json!({"exitCode": null, "signal": "KILL"}));
                        drop(done.send(Done::Answer(id, Ok(status))).await);
                    }));
                    return None;
                }
                Err(error) => (id, Err(error)),
            },
            TerminalRequest::Kill(id, terminal) => (id, self.get(&terminal).map(Terminal::kill)),
            TerminalRequest::Release(id, terminal) => {
                let result = self.get(&terminal).map(Terminal::kill);
                self.by_id.remove(&terminal);
                (id, result)
            }
        };
        Some((id, result))
    }

    fn get(&self, terminal: &str) -> Result<&Terminal, RpcError> {
        let message = || format!("There is no terminal `{terminal}`");
        self.by_id.get(terminal).ok_or_else(|| RpcError::new(RpcError::NOT_FOUND, message(), ""))
    }

    fn create(
        &self,
        command: &str,
        args: &[String],
        env: Vec<(String, String)>,
        folder: PathBuf,
        limit: usize,
    ) -> Result<Terminal, RpcError> {
        let refused = |message: String| RpcError::new(RpcError::INVALID_REQUEST, message, "");
        if self.by_id.len() >= TERMINALS_MAX {
            return Err(refused(format!("More than {TERMINALS_MAX} terminals are open")));
        }
        let shell = ["-c".to_owned(), command.to_owned()];
        let (program, args) = if args.is_empty() { ("/bin/sh", &shell[..]) } else { (command, args) };
        let mut process = Command::new(program);
        process.args(args).env_clear().envs(self.variables.iter().cloned()).envs(env).current_dir(folder);
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        process.process_group(0);
        let mut child = process.spawn().map_err(|error| refused(format!("`{command}`: {error}")))?;
        let group = child.id();
        let output = Arc::new(Mutex::new(KeptOutput { bytes: Vec::new(), limit, is_cut: false }));
        let (ended, exit) = watch::channel(None);
        let readers = [
            child.stdout.take().map(|stream| tokio::spawn(keep(stream, Arc::clone(&output)))),
            child.stderr.take().map(|stream| tokio::spawn(keep(stream, Arc::clone(&output)))),
        ];
        drop(tokio::spawn(async move {
            let status = child.wait().await;
            // A process in the background may hold the streams open.
            let rest = async {
                for reader in readers.into_iter().flatten() {
                    drop(reader.await);
                }
            };
            drop(tokio::time::timeout(std::time::Duration::from_millis(200), rest).await);
            ended.send_replace(Some(status.map_or_else(|_| json!({}), exit_status)));
        }));
        Ok(Terminal { group, output, exit })
    }
}

/// Ends all commands, with their children.
impl Drop for Terminals {
    fn drop(&mut self) {
        self.by_id.values().for_each(|terminal| drop(terminal.kill()));
    }
}

impl Terminal {
    fn output(&self) -> Value {
        let output = self.output.lock();
        let mut answer = json!({
            "output": String::from_utf8_lossy(&output.bytes).trim_start_matches('\u{fffd}'),
            "truncated": output.is_cut,
        });
        if let Some(exit) = &*self.exit.borrow() {
            answer["exitStatus"] = exit.clone();
        }
        answer
    }

    /// Ends the command. Returns the answer to the request.
    fn kill(&self) -> Value {
        if let Some(group) = self.group.filter(|_| self.exit.borrow().is_none()) {
            kill_group(group);
        }
        json!({})
    }
}

/// Keeps the end of a stream.
async fn keep(mut stream: impl AsyncRead + Unpin, output: Arc<Mutex<KeptOutput>>) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let mut output = output.lock();
        output.bytes.extend_from_slice(&buffer[..count]);
        let surplus = output.bytes.len().saturating_sub(output.limit);
        if surplus > 0 {
            output.is_cut = true;
            drop(output.bytes.drain(..surplus));
        }
    }
}

fn exit_status(status: ExitStatus) -> Value {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| signal.to_string());
    #[cfg(not(unix))]
    let signal: Option<String> = None;
    json!({"exitCode": status.code(), "signal": signal})
}

/// Kills a process and its children that stayed in its group.
pub(super) fn kill_group(group: u32) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended already.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = group;
}
