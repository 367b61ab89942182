//! The table of events.
//!
//! A row has the documentation of the event and its name, which is the key of its JSON object, then its
//! [`EventFacts`], and the structure of its fields. Nothing else lists the events; the page has its own
//! table, `web/src/model/fold.ts`.
// tidy: flat table

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::facts::Durability::{Delta, Durable, MergeableDelta, OfInner};
use super::facts::EventFacts;
use super::facts::SnapshotRole::{
    Call, Inner, Item, Kept, Latest, Omitted, Prompt, Request, Retraction, Status, SubAgent, Task, Text,
    TextEnd, TurnEnd,
};
use super::native::{
    DeniedTool, ProgressSource, QuestionKind, QuestionNote, Resolution, RetractReason, SessionPhase,
    SubAgentOutcome, TodoItem, TokenUsage, structures,
};
use super::{AskUserQuestionsRequest, PermissionRequest, StopReason, TurnId};
use crate::mobile::RiskLevel;

macro_rules! events {
    (
        original {$(
            $(#[$seed_meta:meta])*
            $Seed:ident { $( $(#[$field_meta:meta])* $field:ident: $Field:ty, )+ } = $seed_facts:expr;
        )+}
        own {$(
            $(#[$own_meta:meta])*
            $Own:ident = $own_facts:expr;
            $(#[$struct_meta:meta])*
            pub struct $Struct:ident { $($fields:tt)+ }
        )+}
    ) => {
        /// One event of a session, for clients that show it.
        ///
        /// Handle the variants you need and ignore the rest: more may be added.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[non_exhaustive]
        pub enum UiMessage {
            $( $(#[$seed_meta])* $Seed { $( $(#[$field_meta])* $field: $Field, )+ }, )+
            $( $(#[$own_meta])* $Own($Struct), )+
        }

        $(
            structures! {
                $(#[$struct_meta])*
                pub struct $Struct { $($fields)+ }
            }

            impl From<$Struct> for UiMessage {
                fn from(event: $Struct) -> Self {
                    Self::$Own(event)
                }
            }
        )+

        impl UiMessage {
            /// The names of all events, in the order of their declaration.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($Seed),)+ $(stringify!($Own),)+];

            /// The name of the event, which is the one key of its JSON object.
            ///
            /// ```
            /// use tidings_protocol::ui::UiMessage;
            ///
            /// let event = UiMessage::System { message: "Connected".to_string(), session_id: None };
            /// assert_eq!(event.name(), "System");
            /// ```
            pub fn name(&self) -> &'static str {
                match self {
                    $( Self::$Seed { .. } => stringify!($Seed), )+
                    $( Self::$Own(_) => stringify!($Own), )+
                }
            }

            /// The declared facts about the event.
            pub fn facts(&self) -> &'static EventFacts {
                match self {
                    $( Self::$Seed { .. } => const { &$seed_facts }, )+
                    $( Self::$Own(_) => const { &$own_facts }, )+
                }
            }

            /// The declared facts about the event of this name; `None` for an event of a newer version.
            pub fn facts_of(name: &str) -> Option<&'static EventFacts> {
                Some(match name {
                    $( stringify!($Seed) => const { &$seed_facts }, )+
                    $( stringify!($Own) => const { &$own_facts }, )+
                    _ => return None,
                })
            }

            /// Session that this event belongs to; none when it concerns the whole agent.
            ///
            /// ```
            /// use tidings_protocol::ui::UiMessage;
            ///
            /// fn line(event: &UiMessage) -> Option<String> {
            ///     match event {
            ///         UiMessage::ToolExecuting { tool_name, .. } => Some(format!("Running {tool_name}...")),
            ///         UiMessage::Error { message, .. } => Some(format!("Error: {message}")),
            ///         _ => None,
            ///     }
            /// }
            ///
            /// let event = UiMessage::Error { message: "overloaded".to_string(), session_id: None };
            /// assert_eq!(event.session_id(), None);
            /// assert_eq!(line(&event).as_deref(), Some("Error: overloaded"));
            /// ```
            pub fn session_id(&self) -> Option<i64> {
                match self {
                    $( Self::$Seed { session_id, .. } => (*session_id).into(), )+
                    $( Self::$Own(event) => Some(event.session_id), )+
                }
            }

            /// True for the twelve events of the original UI wire, which every client knows.
            pub fn is_seed(&self) -> bool {
                matches!(self, $( Self::$Seed { .. } )|+)
            }

            /// True for our own events.
            pub fn is_native(&self) -> bool {
                !self.is_seed()
            }
        }
    };
}

events! {
// The events of the original UI wire keep exactly the fields they have: clients match them without `..`, so
// one more field would break their build.
original {
    /// A delta of the answer, as it is generated.
    ///
    /// The deltas of a turn concatenate to its text; a delta may end between any two characters.
    TextChunk {
        /// The delta.
        text: String,
        /// Session it belongs to.
        session_id: i64,
        /// Turn it belongs to.
        turn_id: TurnId,
    } = EventFacts {
        durability: MergeableDelta, snapshot: Text,
        changes_session: false, inbox: false, phone: true, editor: true,
    };

    /// A tool has started.
    ToolExecuting {
        /// Id of this call, repeated by its `ToolCompleted`.
        tool_use_id: String,
        /// Name of the tool.
        tool_name: String,
        /// Input of the call.
        input: Value,
        /// Session it belongs to.
        session_id: i64,
    } = EventFacts {
        durability: Durable, snapshot: Call,
        changes_session: false, inbox: false, phone: true, editor: true,
    };

    /// A tool has finished, with success or failure.
    ToolCompleted {
        /// Id from the `ToolExecuting` of this call.
        tool_use_id: String,
        /// Output of the tool, or the reason of its failure.
        result: String,
        /// Session it belongs to.
        session_id: i64,
    } = EventFacts {
        durability: Durable, snapshot: Call,
        changes_session: false, inbox: false, phone: false, editor: true,
    };

    /// A turn is complete: no more text or tools of this turn follow, and the next prompt may be sent.
    Complete {
        /// Session it belongs to.
        session_id: i64,
        /// Turn that is over.
        turn_id: TurnId,
        /// Reason why generation stopped.
        stop_reason: StopReason,
    } = EventFacts {
        durability: Durable, snapshot: TurnEnd,
        changes_session: true, inbox: false, phone: true, editor: true,
    };

    /// A tool call waits for permission.
    PermissionRequired {
        /// Call that waits; the answer names it.
        tool_use_id: String,
        /// The request.
        request: PermissionRequest,
        /// Session it belongs to.
        session_id: i64,
    } = EventFacts {
        durability: Durable, snapshot: Request,
        changes_session: false, inbox: false, phone: true, editor: false,
    };

    /// Several tool calls of one turn wait for permission; each may be allowed or denied on its own.
    BatchPermissionRequired {
        /// Batch that waits; the answer names it.
        batch_id: String,
        /// The requests, one per call.
        requests: Vec<PermissionRequest>,
        /// Session it belongs to.
        session_id: i64,
    } = EventFacts {
        durability: Durable, snapshot: Request,
        changes_session: false, inbox: false, phone: true, editor: false,
    };

    /// The agent asks the user questions.
    UserInteractionRequired {
        /// Call that waits; the answer names it.
        tool_use_id: String,
        /// The questions.
        request: AskUserQuestionsRequest,
        /// Session it belongs to.
        session_id: i64,
    } = EventFacts {
        durability: Durable, snapshot: Request,
        changes_session: false, inbox: false, phone: true, editor: false,
    };

    /// Token counts so far.
    TokenUpdate {
        /// Tokens of the prompt.
        input_tokens: i64,
        /// Tokens generated.
        output_tokens: i64,
        /// Session it belongs to.
        session_id: i64,
    } = EventFacts {
        durability: Delta, snapshot: Latest,
        changes_session: false, inbox: false, phone: false, editor: true,
    };

    /// An error; the session may continue.
    Error {
        /// Error message.
        message: String,
        /// Session it belongs to; none when it concerns the whole agent.
        session_id: Option<i64>,
    } = EventFacts {
        durability: Durable, snapshot: Item,
        changes_session: false, inbox: false, phone: true, editor: true,
    };

    /// A note for logs rather than for the conversation.
    System {
        /// The note.
        message: String,
        /// Session it belongs to; none when it concerns the whole agent.
        session_id: Option<i64>,
    } = EventFacts {
        durability: Durable, snapshot: Kept,
        changes_session: false, inbox: false, phone: false, editor: false,
    };

    /// Text to show that the model did not write, such as the output of a slash command.
    Display {
        /// The text.
        content: String,
        /// Session it belongs to.
        session_id: i64,
    } = EventFacts {
        durability: Durable, snapshot: Item,
        changes_session: false, inbox: false, phone: true, editor: true,
    };

    /// A slash command has finished.
    CommandComplete {
        /// The command.
        command: String,
        /// Session it belongs to.
        session_id: i64,
    } = EventFacts {
        durability: Durable, snapshot: Item,
        changes_session: true, inbox: false, phone: false, editor: false,
    };
}

// Add events here. `new` takes the `required` fields; `optional` ones become an `Option` and are omitted
// without a value; `defaulted` ones may be absent when read.
own {
    /// A session has started, or continues in a new process.
    SessionStarted = EventFacts {
        durability: Durable, snapshot: Status,
        changes_session: true, inbox: false, phone: true, editor: true,
    };
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
    SessionTitle = EventFacts {
        durability: Durable, snapshot: Latest,
        changes_session: true, inbox: false, phone: false, editor: true,
    };
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
    SessionStateChanged = EventFacts {
        durability: Durable, snapshot: Status,
        changes_session: true, inbox: true, phone: true, editor: true,
    };
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

    /// The model or the permission mode has changed.
    SettingsChanged = EventFacts {
        durability: Durable, snapshot: Status,
        changes_session: true, inbox: false, phone: false, editor: true,
    };
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

    /// A prompt was accepted and waits for its turn.
    PromptQueued = EventFacts {
        durability: Durable, snapshot: Prompt,
        changes_session: false, inbox: false, phone: false, editor: false,
    };
    /// A prompt was accepted and waits for its turn. A [`UserPrompt`] or a [`PromptDropped`] with the same
    /// `uuid` follows.
    pub struct PromptQueued {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Id of the prompt.
            uuid: String,
            /// Text of the prompt.
            text: String,
            /// Expected turn. If another prompt gets ahead of it, the turn is a later one; the prompt's id
            /// stays.
            turn_id: TurnId,
        }
        optional {
            /// Author of the prompt.
            by: String,
        }
        defaulted {
            /// Kinds of its attachments.
            attachments: Vec<String>,
        }
    }

    /// A prompt reached the agent.
    UserPrompt = EventFacts {
        durability: Durable, snapshot: Prompt,
        changes_session: true, inbox: true, phone: false, editor: true,
    };
    /// A prompt reached the agent.
    pub struct UserPrompt {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Text of the prompt.
            text: String,
        }
        optional {
            /// Id of the message, for cancelling it or rewinding to it.
            uuid: String,
            /// The user's turn.
            turn_id: TurnId,
            /// Origin, when the user did not write it: `task-notification`, `auto-continuation`, `synthetic`,
            /// …
            origin: String,
        }
        defaulted {
            /// Kinds of its attachments: `image`, `document`, …
            attachments: Vec<String>,
        }
    }

    /// A prompt that was sent will not be answered.
    PromptDropped = EventFacts {
        durability: Durable, snapshot: Prompt,
        changes_session: true, inbox: false, phone: false, editor: false,
    };
    /// A prompt that was sent will not be answered.
    pub struct PromptDropped {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Id of the message.
            uuid: String,
        }
        optional {
            /// The user's turn.
            turn_id: TurnId,
            /// Reason given by the agent: `cancelled`, `discarded` or `refused`.
            reason: String,
        }
    }

    /// The agent has started a turn.
    TurnStarted = EventFacts {
        durability: Durable, snapshot: Kept,
        changes_session: true, inbox: false, phone: true, editor: true,
    };
    /// The agent has started a turn.
    pub struct TurnStarted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The turn.
            turn_id: TurnId,
        }
        optional {
            /// Trigger of a turn that the agent began by itself, such as `task-notification`; absent for a
            /// user's prompt.
            origin: String,
        }
        defaulted {
            /// The user's turns that it answers: none when it began by itself, several when prompts were
            /// merged.
            answers: Vec<TurnId>,
        }
    }

    /// A block of text is complete.
    TextEnded = EventFacts {
        durability: Durable, snapshot: TextEnd,
        changes_session: false, inbox: false, phone: true, editor: true,
    };
    /// The text since the last `TextEnded` or tool is complete: later text starts a new block.
    pub struct TextEnded {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
        }
    }

    /// A delta of the model's reasoning.
    Thinking = EventFacts {
        durability: MergeableDelta, snapshot: Text,
        changes_session: false, inbox: false, phone: false, editor: true,
    };
    /// A delta of the model's reasoning, as it is generated.
    pub struct Thinking {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
            /// The delta.
            text: String,
        }
    }

    /// The model is writing the input of a tool call.
    ToolPreparing = EventFacts {
        durability: Delta, snapshot: Call,
        changes_session: false, inbox: false, phone: false, editor: true,
    };
    /// The model is writing the input of a tool call; `ToolExecuting` follows when it is complete.
    pub struct ToolPreparing {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The call.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
        }
    }

    /// A tool call is still running.
    ToolProgress = EventFacts {
        durability: Delta, snapshot: Call,
        changes_session: false, inbox: false, phone: false, editor: true,
    };
    /// A tool call is still running.
    pub struct ToolProgress {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The call.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
            /// Elapsed time in seconds.
            elapsed_seconds: f64,
        }
        optional {
            /// Task that the call has become.
            task_id: String,
        }
    }

    /// Structured result of a tool call.
    ToolDetails = EventFacts {
        durability: Durable, snapshot: Call,
        changes_session: false, inbox: false, phone: false, editor: true,
    };
    /// Details of a finished call; sent just before `ToolCompleted`.
    pub struct ToolDetails {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The call.
            tool_use_id: String,
            /// True if the call failed.
            is_error: bool,
        }
        optional {
            /// Name of the tool.
            tool_name: String,
            /// Structured output of the tool: patches, output and errors of a command, lists, …
            tool_use_result: Value,
        }
    }

    /// An event inside a sub-agent.
    Lane = EventFacts {
        durability: OfInner, snapshot: Inner,
        changes_session: false, inbox: false, phone: false, editor: true,
    };
    /// An event inside a sub-agent: its text, reasoning, tools and tokens.
    ///
    /// Its turn is the turn of the main conversation during which it happened.
    pub struct Lane {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Sub-agent, as the id of the call that started it.
            agent_id: String,
            /// The event.
            event: Box<UiMessage>,
        }
    }

    /// A sub-agent has started.
    SubAgentStarted = EventFacts {
        durability: Durable, snapshot: SubAgent,
        changes_session: false, inbox: false, phone: true, editor: false,
    };
    /// A sub-agent has started.
    pub struct SubAgentStarted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Sub-agent, as the id of the call that started it.
            agent_id: String,
        }
        optional {
            /// Task id, assigned by the agent.
            task_id: String,
            /// Parent sub-agent, unless the main agent started it.
            parent_agent_id: String,
            /// Type of the sub-agent, such as `Explore`.
            agent_type: String,
            /// One-line description of its work.
            description: String,
            /// Its prompt.
            prompt: String,
        }
        defaulted {
            /// True if the main conversation continues meanwhile.
            background: bool,
            /// True if it was only mentioned in a text, so further events about it are not guaranteed.
            estimated: bool,
        }
    }

    /// A sub-agent has made progress.
    SubAgentProgressed = EventFacts {
        durability: Delta, snapshot: SubAgent,
        changes_session: false, inbox: false, phone: true, editor: true,
    };
    /// A sub-agent has made progress.
    pub struct SubAgentProgressed {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Sub-agent, as the id of the call that started it.
            agent_id: String,
        }
        optional {
            /// Task id, assigned by the agent.
            task_id: String,
            /// Type of the sub-agent.
            agent_type: String,
            /// One-line description of its current work.
            description: String,
            /// Name of the last tool it called.
            last_tool: String,
            /// Number of tool calls so far.
            tool_uses: u64,
            /// Number of tokens so far.
            tokens: u64,
            /// Elapsed time in milliseconds.
            duration_ms: u64,
            /// Interim summary.
            summary: String,
        }
    }

    /// A sub-agent has ended.
    SubAgentEnded = EventFacts {
        durability: Durable, snapshot: SubAgent,
        changes_session: false, inbox: false, phone: true, editor: true,
    };
    /// A sub-agent has ended.
    pub struct SubAgentEnded {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Sub-agent, as the id of the call that started it.
            agent_id: String,
            /// Outcome.
            outcome: SubAgentOutcome,
        }
        optional {
            /// Task id, assigned by the agent.
            task_id: String,
            /// Number of tool calls.
            tool_uses: u64,
            /// Number of tokens used.
            tokens: u64,
            /// Duration in milliseconds.
            duration_ms: u64,
            /// Result as text.
            summary: String,
            /// Error message.
            error: String,
        }
    }

    /// Another background task has started or changed.
    TaskChanged = EventFacts {
        durability: Durable, snapshot: Task,
        changes_session: false, inbox: false, phone: false, editor: false,
    };
    /// Another background task, such as a shell command, has started or changed.
    pub struct TaskChanged {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Task id, assigned by the agent.
            task_id: String,
            /// Status given by the agent: `running`, `completed`, `failed`, `stopped`, …
            status: String,
        }
        optional {
            /// Call that started it.
            tool_use_id: String,
            /// Type of the task, such as `local_bash`.
            kind: String,
            /// One-line description.
            description: String,
            /// File that receives its output.
            output_file: String,
            /// Result as text.
            summary: String,
        }
        defaulted {
            /// True if the conversation continues meanwhile.
            background: bool,
        }
    }

    /// Progress of the work.
    Progress = EventFacts {
        durability: Delta, snapshot: Latest,
        changes_session: false, inbox: false, phone: true, editor: false,
    };
    /// Progress of the work.
    pub struct Progress {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Source of this progress.
            source: ProgressSource,
        }
        optional {
            /// Current step, as text.
            step: String,
            /// Number of completed steps.
            completed: u64,
            /// Total number of steps.
            total: u64,
            /// Percentage, from 0 to 100.
            percentage: f64,
            /// Sub-agent that does the work.
            agent_id: String,
        }
        defaulted {
            /// True if it is an estimate.
            estimated: bool,
        }
    }

    /// The agent's to-do list.
    TodoList = EventFacts {
        durability: Durable, snapshot: Latest,
        changes_session: false, inbox: false, phone: false, editor: true,
    };
    /// The agent's to-do list; replaces the previous one.
    pub struct TodoList {
        required {
            /// Session it belongs to.
            session_id: i64,
        }
        optional {
            /// Sub-agent that owns the list.
            agent_id: String,
        }
        defaulted {
            /// In display order.
            items: Vec<TodoItem>,
        }
    }

    /// The agent proposes a plan and waits for approval.
    PlanProposed = EventFacts {
        durability: Durable, snapshot: Item,
        changes_session: false, inbox: false, phone: false, editor: false,
    };
    /// The agent proposes a plan and waits for approval.
    pub struct PlanProposed {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waits.
            tool_use_id: String,
            /// The plan, as Markdown.
            plan: String,
        }
        optional {
            /// Turn it belongs to.
            turn_id: TurnId,
            /// File that holds the plan.
            path: String,
        }
    }

    /// The history was compacted.
    Compacted = EventFacts {
        durability: Durable, snapshot: Item,
        changes_session: false, inbox: false, phone: true, editor: true,
    };
    /// The history was compacted.
    pub struct Compacted {
        required {
            /// Session it belongs to.
            session_id: i64,
        }
        optional {
            /// Trigger: `manual` or `auto`.
            trigger: String,
            /// Tokens of the history before.
            tokens_before: u64,
            /// Tokens of the history after.
            tokens_after: u64,
        }
    }

    /// State of the rate limits of the user's plan.
    RateLimit = EventFacts {
        durability: Durable, snapshot: Latest,
        changes_session: false, inbox: true, phone: true, editor: true,
    };
    /// State of the rate limits of the user's plan.
    pub struct RateLimit {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// `allowed`, `allowed_warning` or `rejected`.
            status: String,
        }
        optional {
            /// Name of the limit, such as `five_hour`.
            kind: String,
            /// Used share, from 0 to 1.
            utilization: f64,
            /// Time of the reset, in seconds since the epoch.
            resets_at: i64,
            /// True if paid use beyond the plan is active.
            is_using_overage: bool,
        }
    }

    /// An API call failed and will be retried.
    Retrying = EventFacts {
        durability: Durable, snapshot: Latest,
        changes_session: false, inbox: false, phone: true, editor: true,
    };
    /// An API call failed and will be retried.
    pub struct Retrying {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Number of the next attempt, from 1.
            attempt: u64,
        }
        optional {
            /// Maximum number of attempts.
            max_attempts: u64,
            /// Delay before the next attempt, in milliseconds.
            delay_ms: u64,
            /// HTTP status; absent when there was no response.
            status: u16,
            /// Short name of the error.
            error: String,
            /// Sub-agent that made the call.
            agent_id: String,
        }
    }

    /// Result of a turn.
    TurnResult = EventFacts {
        durability: Durable, snapshot: Status,
        changes_session: true, inbox: true, phone: true, editor: true,
    };
    /// Result of a turn; sent just before its `Complete`.
    pub struct TurnResult {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The turn.
            turn_id: TurnId,
            /// Result subtype given by the agent: `success`, `error_max_turns`, …
            subtype: String,
            /// True if the turn failed; possible with `success` too.
            is_error: bool,
        }
        optional {
            /// Duration in milliseconds.
            duration_ms: u64,
            /// Time spent in the API in milliseconds, over the whole session.
            duration_api_ms: u64,
            /// Number of rounds of the model and its tools.
            num_turns: u64,
            /// Cost of the session so far, as counted by the agent: `/clear` resets it.
            cost_usd: f64,
            /// Cost of this turn, sub-agents included.
            turn_cost_usd: f64,
            /// List price of the response that an interrupt cut off, if the agent leaves it out of `cost_usd`
            /// and `turn_cost_usd`; some versions of Claude Code include it.
            interrupted_cost_usd: f64,
            /// Tokens of this turn, sub-agents excluded.
            usage: TokenUsage,
            /// Tokens and cost of the session by model.
            model_usage: Value,
            /// The answer as JSON, when a schema was requested.
            structured_output: Value,
            /// Reason why the model stopped.
            stop_reason: StopReason,
            /// Reason why the turn ended, as given by the agent.
            terminal_reason: String,
            /// Error messages.
            error: String,
            /// Trigger of a turn that the agent began by itself; absent for a user's prompt.
            origin: String,
        }
        defaulted {
            /// The user's turns that it answered.
            answers: Vec<TurnId>,
            /// Denied tool calls.
            permission_denials: Vec<DeniedTool>,
        }
    }

    /// Details of a permission request.
    PermissionDetails = EventFacts {
        durability: Durable, snapshot: Request,
        changes_session: false, inbox: true, phone: true, editor: false,
    };
    /// Details of a permission request; sent just before `PermissionRequired`, or before
    /// `BatchPermissionRequired` once per request of the batch, in the same order.
    pub struct PermissionDetails {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waits.
            tool_use_id: String,
            /// Name of the tool.
            tool_name: String,
            /// Input of the call.
            input: Value,
            /// Risk of the call.
            risk: RiskLevel,
        }
        optional {
            /// Batch of the request.
            batch_id: String,
            /// Every rule that the scope `always` adds; none or empty if that scope is not offered.
            suggestions: Value,
            /// The request as text, from the agent.
            title: String,
            /// More text about the request, from the agent.
            description: String,
            /// Digest of the request; an answer that quotes it cannot apply to another request.
            digest: String,
            /// Sub-agent that sent the request.
            agent_id: String,
            /// Path outside of the allowed folders.
            blocked_path: String,
            /// Reason for the request.
            decision_reason: String,
            /// Deadline at which it is decided without an answer, in milliseconds since the epoch.
            deadline_ms: i64,
        }
    }

    /// Details of a question.
    QuestionDetails = EventFacts {
        durability: Durable, snapshot: Request,
        changes_session: false, inbox: true, phone: false, editor: false,
    };
    /// Details of a question; sent just before `UserInteractionRequired`.
    pub struct QuestionDetails {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waits.
            tool_use_id: String,
            /// Kind of question.
            kind: QuestionKind,
        }
        optional {
            /// Title above the questions.
            message: String,
            /// JSON Schema of the answer.
            schema: Value,
            /// Web page to open, for a question that is asked there.
            url: String,
            /// Sub-agent that asks.
            agent_id: String,
            /// Deadline at which it is resolved without an answer, in milliseconds since the epoch.
            deadline_ms: i64,
        }
        defaulted {
            /// One per question, in the same order.
            questions: Vec<QuestionNote>,
        }
    }

    /// A permission request was resolved.
    PermissionResolved = EventFacts {
        durability: Durable, snapshot: Request,
        changes_session: false, inbox: true, phone: true, editor: false,
    };
    /// A permission request was resolved.
    pub struct PermissionResolved {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waited.
            tool_use_id: String,
            /// The resolution.
            outcome: Resolution,
        }
        optional {
            /// Batch of the request.
            batch_id: String,
            /// Name of the decider: a person, a policy or `timeout`.
            by: String,
            /// The rule that decided.
            rule: String,
            /// Scope of the decision: `once`, `session` or `always`.
            scope: String,
            /// Message that came with the decision.
            reason: String,
            /// Input that the tool receives instead of the requested one, when the answer changed it.
            updated_input: Value,
        }
    }

    /// A question was resolved.
    InteractionResolved = EventFacts {
        durability: Durable, snapshot: Request,
        changes_session: false, inbox: true, phone: true, editor: false,
    };
    /// A question was resolved.
    pub struct InteractionResolved {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waited.
            tool_use_id: String,
            /// The resolution.
            outcome: Resolution,
        }
        optional {
            /// Name of the person or policy that resolved it.
            by: String,
            /// The answer as JSON.
            answer: Value,
            /// Message that came with the answer.
            reason: String,
        }
    }

    /// Something already shown was retracted.
    Retracted = EventFacts {
        durability: Durable, snapshot: Retraction,
        changes_session: false, inbox: false, phone: true, editor: true,
    };
    /// Something already shown was retracted.
    pub struct Retracted {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Turn it belongs to.
            turn_id: TurnId,
            /// Reason.
            reason: RetractReason,
        }
        defaulted {
            /// Retracted text: the last that this turn has shown.
            text: String,
            /// Retracted reasoning: the last that this turn has shown.
            thinking: String,
            /// Retracted tool calls.
            tool_use_ids: Vec<String>,
        }
    }

    /// Suggestion for the user's next prompt.
    Suggestion = EventFacts {
        durability: Durable, snapshot: Latest,
        changes_session: false, inbox: false, phone: false, editor: false,
    };
    /// Suggestion for the user's next prompt.
    pub struct Suggestion {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Text of the suggestion.
            text: String,
        }
    }

    /// A frame that has no event of its own.
    RawFrame = EventFacts {
        durability: Durable, snapshot: Omitted,
        changes_session: false, inbox: false, phone: false, editor: false,
    };
    /// A frame that has no event of its own, passed on so that nothing is dropped.
    pub struct RawFrame {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// The frame's name, such as `system/ui_toast`.
            kind: String,
            /// The frame as JSON text, unchanged.
            json: String,
        }
    }
}
}
