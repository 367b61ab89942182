//! Start, title, state and settings of a session.

use std::collections::BTreeMap;

use super::{closed_enums, events};

events! {
    /// A session has started, or continues in a new process.
    pub struct SessionStarted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Session id of the agent, for resuming.
            cli_session_id: String,
        }
        optional {
            /// Current model.
            model: String,
            /// Working folder.
            cwd: String,
            /// Permission mode.
            permission_mode: String,
            /// Version of the agent.
            cli_version: String,
        }
        defaulted {
            /// Tools available to the model.
            tools: Vec<String>,
            /// Available slash commands, without the slash.
            slash_commands: Vec<String>,
        }
    }

    /// A session has a new title.
    pub struct SessionTitle {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The title.
            title: String,
        }
    }

    /// A session has changed its state.
    pub struct SessionStateChanged {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The new state.
            state: SessionPhase,
        }
        optional {
            /// Exit code of the process, if it exited by itself.
            exit_code: i32,
            /// Signal that ended the process.
            signal: i32,
            /// Reason for an unexpected end.
            error: String,
            /// Dialog in the agent's own terminal that it waits in, as the agent names it, such as
            /// `permission prompt`. It is answered there; absent if a pending request of the session is.
            waits_for: String,
            /// Cost of responses that the process did not report before it ended, at list prices, in US
            /// dollars.
            unreported_cost_usd: f64,
        }
    }

    /// Settings of a session have changed; absent ones stay as they were.
    pub struct SettingsChanged {
        required {
            /// Session it belongs to.
            session_id: i64,
        }
        optional {
            /// Current model.
            model: String,
            /// Permission mode.
            permission_mode: String,
            /// Available slash commands, without the slash.
            slash_commands: Vec<String>,
            /// Values of options of the agent, by their ids.
            options: BTreeMap<String, String>,
        }
    }
}

closed_enums! {
    /// State of a session.
    pub enum SessionPhase {
        /// It waits for a prompt.
        Idle,
        /// It works on a turn.
        Running,
        /// A turn waits for an answer of the user.
        WaitingForPerson,
        /// The history is being compacted.
        Compacting,
        /// The process has ended.
        Ended,
    }
}
