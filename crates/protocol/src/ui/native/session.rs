//! What a session is and what it is doing.

use super::{events, words};

events! {
    /// A session has begun, or goes on in a new process.
    pub struct SessionStarted {
        required {
            /// Session it is.
            session_id: i64,
            /// The agent's own name for it, by which it can be resumed.
            cli_session_id: String,
        }
        optional {
            /// The model that answers.
            model: String,
            /// The folder it works in.
            cwd: String,
            /// What it may do unasked.
            permission_mode: String,
            /// Version of the agent.
            cli_version: String,
        }
        defaulted {
            /// The tools that the model may call.
            tools: Vec<String>,
            /// The slash commands that can be sent, without the slash.
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

    /// A session is doing something else than before.
    pub struct SessionStateChanged {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// What it is doing now.
            state: SessionPhase,
        }
        optional {
            /// The exit code of the process, once it has ended by itself.
            exit_code: i32,
            /// The signal that ended the process.
            signal: i32,
            /// Why it ended, when it should not have.
            error: String,
        }
    }

    /// Settings of a session are others than before; those that are absent stay.
    pub struct SettingsChanged {
        required {
            /// Session it belongs to.
            session_id: i64,
        }
        optional {
            /// The model that answers.
            model: String,
            /// What the agent may do unasked.
            permission_mode: String,
            /// The slash commands that can be sent, without the slash.
            slash_commands: Vec<String>,
        }
    }
}

words! {
    /// What a session is doing.
    pub enum SessionPhase {
        /// It waits for a prompt.
        Idle,
        /// It works on a turn.
        Running,
        /// A turn waits for a person's answer.
        WaitingForPerson,
        /// Its history is being summarised.
        Compacting,
        /// Its process is gone.
        Ended,
    }
}
