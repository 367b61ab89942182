//! Actions that the adapter asks its caller for.

use crate::rpc::Id;

/// An action of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Write a line to the host.
    ToHost(String),
    /// Write a line to the agent.
    ToAgent(String),
    /// Read a file of the session's folder, and call [`Adapter::answer`](super::Adapter::answer).
    ReadFile(FileRequest),
    /// Write a file of the session's folder, and call [`Adapter::answer`](super::Adapter::answer).
    WriteFile(FileRequest),
    /// Do something with a terminal, and answer the request.
    Terminal(TerminalRequest),
    /// Call [`Adapter::cancel_overdue`](super::Adapter::cancel_overdue) with this number after the time for a
    /// cancelled turn to end.
    CancelDeadline(u64),
    /// End the agent, and exit with this code.
    Exit(u8),
}

/// A request about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRequest {
    /// Id of the agent's request.
    pub id: Id,
    /// Path, as the agent sent it. The caller checks that it is inside of the session's folder.
    pub path: String,
    /// First line to read, from 1.
    pub line: Option<u64>,
    /// Number of lines to read.
    pub limit: Option<u64>,
    /// Text to write; empty for a read.
    pub content: String,
}

/// A request about a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalRequest {
    /// Start a command.
    Create {
        /// Id of the agent's request.
        id: Id,
        /// Id that the terminal gets.
        terminal: String,
        /// The program, or a whole command line for a shell if there are no arguments.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables to set.
        env: Vec<(String, String)>,
        /// Working folder, as the agent sent it. The caller checks that it is inside of the session's folder.
        cwd: Option<String>,
        /// Bytes of output to keep; older output is dropped.
        output_bytes: Option<u64>,
    },
    /// Answer with the output so far.
    Output(Id, String),
    /// Answer when the command has ended.
    WaitForExit(Id, String),
    /// End the command; its output stays.
    Kill(Id, String),
    /// End the command, and drop its output.
    Release(Id, String),
}
