//! The tool that wakes the agent at lines of a command or messages of a socket.

use crate::json::object;

object! {
    /// A monitor: a command whose lines, or a socket whose messages, wake the agent.
    pub struct MonitorInput {
        /// Short description of the monitor.
        opt description: String,
        /// The command.
        opt command: String,
        /// The socket.
        opt ws: MonitorSocket,
        /// Timeout in milliseconds.
        opt timeout_ms: u64,
        /// True to run until the session ends.
        opt persistent: bool,
    }

    /// A WebSocket to monitor.
    pub struct MonitorSocket {
        /// URL of the socket.
        opt url: String,
        /// Subprotocols to offer.
        opt protocols: Vec<String>,
    }

    /// A started monitor.
    pub struct MonitorOutput {
        /// Id of its task.
        opt task_id: String as "taskId",
        /// Timeout in milliseconds.
        opt timeout_ms: u64 as "timeoutMs",
        /// True if it runs until the session ends.
        opt persistent: bool,
        /// True if the sandbox was kept only because the permission check relied on it.
        opt kept_in_sandbox_by_check: bool as "keptInSandboxByCheck",
    }
}
