use crate::json::object;

object! {
    /// Something to watch: a command whose lines, or a socket whose messages, wake the agent.
    pub struct MonitorInput {
        /// What it watches, in a few words.
        opt description: String,
        /// The command.
        opt command: String,
        /// The socket.
        opt ws: MonitorSocket,
        /// After how many milliseconds to stop.
        opt timeout_ms: u64,
        /// Whether to watch as long as the session lives.
        opt persistent: bool,
    }

    /// A web socket to watch.
    pub struct MonitorSocket {
        /// Its address.
        opt url: String,
        /// The subprotocols to offer.
        opt protocols: Vec<String>,
    }

    /// What watches now.
    pub struct MonitorOutput {
        /// Its task.
        opt task_id: String as "taskId",
        /// After how many milliseconds it stops.
        opt timeout_ms: u64 as "timeoutMs",
        /// Whether it watches as long as the session lives.
        opt persistent: bool,
    }
}
