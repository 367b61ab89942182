//! The messaging socket of a CLI, if the user allows the server to send messages there.
//!
//! Claude Code uses it for messages between its sessions, so a prompt is shown as one of another Claude
//! session, and cannot approve anything. The interface is not documented: without it, or if it changes, the
//! session is only shown.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tidings::host::terminal::{TypingOutcome, typed_text};
use tidings_transcript::running::RunningCli;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// The socket on which a process takes messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MessagingSocket {
    path: PathBuf,
    /// The process of the CLI.
    pid: u32,
}

/// Time for the process to accept a message.
const ACCEPT_TIME: Duration = Duration::from_secs(5);

/// Time for which the connection stays open after a message. The process closes it earlier if it refuses it.
const READ_TIME: Duration = Duration::from_millis(300);

impl MessagingSocket {
    /// The socket that a process describes. It takes messages of the same user only, so no secret is needed.
    pub(super) fn of_process(process: &RunningCli) -> Option<Self> {
        let path = process.messaging_socket_path.clone().filter(|path| path.is_absolute())?;
        path.exists().then_some(MessagingSocket { path, pid: process.pid })
    }

    /// Sends a prompt. An empty one only asks if the process listens.
    pub(super) async fn prompt(&self, text: &str, message_id: &str) -> io::Result<TypingOutcome> {
        let send = async {
            let mut stream = UnixStream::connect(&self.path).await?;
            // The file that names the socket may be older than the process that listens on it now.
            let peer = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok());
            if peer != Some(self.pid) {
                return Err(io::Error::other("another process has the messaging socket"));
            }
            let text = typed_text(text);
            if text.is_empty() {
                return Ok(());
            }
            let message = json!({
                "type": "user", "msgV": 1, "msg_id": message_id, "priority": "next",
                "message": {"role": "user", "content": text},
            });
            stream.write_all(format!("{message}\n").as_bytes()).await?;
            // It does not reply; a connection that is closed too early may be lost.
            let mut reply = [0; 256];
            drop(tokio::time::timeout(READ_TIME, stream.read(&mut reply)).await);
            Ok(())
        };
        tokio::time::timeout(ACCEPT_TIME, send).await.map_err(|_| io::ErrorKind::TimedOut)??;
        Ok(TypingOutcome::Typed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncBufReadExt as _;
    use tokio::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn a_prompt_goes_to_the_process_that_describes_the_socket_and_to_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let own = MessagingSocket { path: path.clone(), pid: std::process::id() };
        let read = async {
            let (stream, _) = listener.accept().await.unwrap();
            let mut line = String::new();
            tokio::io::BufReader::new(stream).read_line(&mut line).await.unwrap();
            serde_json::from_str::<serde_json::Value>(&line).unwrap()
        };
        let (sent, message) = tokio::join!(own.prompt("two\r\nlines\u{1b}[201~", "id-1"), read);
        assert_eq!(sent.unwrap(), TypingOutcome::Typed);
        let expected = (&json!("two\nlines"), &json!("id-1"));
        assert_eq!((&message["message"]["content"], &message["msg_id"]), expected);

        let other = MessagingSocket { path: path.clone(), pid: 1 };
        assert!(other.prompt("to another", "id-2").await.is_err());
        drop(listener);
        assert!(own.prompt("", "id-3").await.is_err(), "it does not listen any more");
        let process = |path: &str| {
            let text = json!({"sessionId": "s", "messagingSocketPath": path});
            serde_json::from_value::<RunningCli>(text).unwrap()
        };
        assert!(MessagingSocket::of_process(&process(path.to_str().unwrap())).is_some());
        assert_eq!(MessagingSocket::of_process(&process("relative.sock")), None);
        assert_eq!(MessagingSocket::of_process(&process("/no-such-socket")), None);
    }
}
