//! An editor that this process serves on its own streams, without a socket in between.

use tidings_api::Code;
use tidings_sessions::{Caller, Error};
use tokio::sync::mpsc;

use super::connection::EditorConnection;
use crate::api::Api;

/// An editor in the Agent Client Protocol, version 1, whose messages the caller reads and writes.
///
/// Each message is one JSON-RPC message. Its sessions are those of `/v1/acp`.
pub struct LocalEditor {
    connection: EditorConnection,
    lines: mpsc::Receiver<String>,
}

impl LocalEditor {
    /// An editor with the rights of `caller`.
    pub fn new(api: Api, caller: Caller) -> Self {
        let (connection, lines) = EditorConnection::new(api, caller);
        LocalEditor { connection, lines }
    }

    /// Takes a message of the editor. Returns the response if it is ready at once; other responses come from
    /// [`LocalEditor::next`].
    pub async fn receive(&mut self, message: &str) -> Result<Option<String>, Error> {
        self.connection.receive(message).await.map_err(|_| {
            let hint = "read the updates of the session before you send more";
            Error::new(Code::Unavailable, "The editor sends more than its session can take", hint)
        })
    }

    /// The next message for the editor. Cancel safe.
    pub async fn next(&mut self) -> String {
        match self.lines.recv().await {
            Some(line) => line,
            // The connection holds a sender.
            None => std::future::pending().await,
        }
    }

    /// The next message for the editor, if it is there.
    pub fn ready(&mut self) -> Option<String> {
        self.lines.try_recv().ok()
    }
}

impl std::fmt::Debug for LocalEditor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalEditor")
    }
}
