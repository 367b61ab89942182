//! Facts about each event: its name, its durability, and its effect on the session.

use super::UiMessage;

macro_rules! names {
    ($($Name:ident)+) => {
        impl UiMessage {
            /// The names of all events, in the order of their declaration.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($Name)),+];

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
                    $(Self::$Name { .. } => stringify!($Name),)+
                }
            }
        }
    };
}

names! {
    TextChunk ToolExecuting ToolCompleted Complete PermissionRequired BatchPermissionRequired
    UserInteractionRequired TokenUpdate Error System Display CommandComplete
    SessionStarted SessionTitle SessionStateChanged SettingsChanged PromptQueued UserPrompt PromptDropped
    TurnStarted TextEnded Thinking ToolPreparing ToolProgress ToolDetails Lane
    SubAgentStarted SubAgentProgressed SubAgentEnded TaskChanged Progress TodoList PlanProposed Compacted
    RateLimit Retrying TurnResult PermissionDetails QuestionDetails PermissionResolved InteractionResolved
    Retracted Suggestion RawFrame
}

impl UiMessage {
    /// True for events that a later event repeats or replaces, such as a delta of a text. They may be lost
    /// with the power.
    pub fn is_delta(&self) -> bool {
        match self {
            Self::TextChunk { .. }
            | Self::TokenUpdate { .. }
            | Self::Thinking(_)
            | Self::ToolPreparing(_)
            | Self::ToolProgress(_)
            | Self::SubAgentProgressed(_)
            | Self::Progress(_) => true,
            Self::Lane(lane) => lane.event.is_delta(),
            _ => false,
        }
    }

    /// True for deltas that [`append`](Self::append) can merge.
    pub fn is_mergeable(&self) -> bool {
        matches!(self, Self::TextChunk { .. } | Self::Thinking(_))
    }

    /// Appends the next delta of the same text, up to a length in bytes. Returns false if it is not one, or
    /// is too long.
    pub fn append(&mut self, next: &UiMessage, bytes_max: usize) -> bool {
        let (text, more) = match (self, next) {
            (
                Self::TextChunk { text, session_id, turn_id },
                Self::TextChunk { text: more, session_id: next_session, turn_id: next_turn },
            ) if session_id == next_session && turn_id == next_turn => (text, more),
            (Self::Thinking(delta), Self::Thinking(next))
                if delta.session_id == next.session_id && delta.turn_id == next.turn_id =>
            {
                (&mut delta.text, &next.text)
            }
            _ => return false,
        };
        if text.len() + more.len() > bytes_max {
            return false;
        }
        text.push_str(more);
        true
    }

    /// True for events that change facts about the session, and not only its conversation: its id, title,
    /// state, settings, queue or totals.
    pub fn changes_session(&self) -> bool {
        matches!(
            self,
            Self::SessionStarted(_)
                | Self::SessionTitle(_)
                | Self::SessionStateChanged(_)
                | Self::SettingsChanged(_)
                | Self::UserPrompt(_)
                | Self::PromptDropped(_)
                | Self::TurnStarted(_)
                | Self::TurnResult(_)
                | Self::Complete { .. }
                | Self::CommandComplete { .. }
        )
    }
}
