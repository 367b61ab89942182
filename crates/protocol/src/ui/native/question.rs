//! What is known about a question besides its words, and how it was settled.

use serde_json::Value;

use super::{Resolution, events, words};
use crate::ui::TurnId;

events! {
    /// What `UserInteractionRequired` has no room for; comes just before it.
    pub struct QuestionDetails {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waits.
            tool_use_id: String,
            /// What kind of question it is.
            kind: QuestionKind,
        }
        optional {
            /// A line above the questions.
            message: String,
            /// The shape that the answer must have, as JSON Schema.
            schema: Value,
            /// A page to open, where the question is asked on one.
            url: String,
            /// The sub-agent that asks.
            agent_id: String,
            /// When it will be settled without an answer, in milliseconds since the epoch.
            deadline_ms: i64,
        }
        defaulted {
            /// One per question, in the same order.
            questions: Vec<QuestionNote>,
        }
    }

    /// More about one question.
    pub struct QuestionNote {
        required {
            /// The question.
            id: String,
        }
        optional {
            /// The question in a word or two.
            header: String,
        }
        defaulted {
            /// One per option, in the same order.
            options: Vec<OptionDetails>,
        }
    }

    /// More about one option.
    pub struct OptionDetails {
        required {
            /// The option.
            label: String,
        }
        optional {
            /// What choosing it means.
            description: String,
            /// What it would look like.
            preview: String,
        }
    }

    /// The agent has made a plan and asks whether to carry it out.
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
            /// The file that holds the plan.
            path: String,
        }
    }

    /// A question waits no longer.
    pub struct InteractionResolved {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Call that waited.
            tool_use_id: String,
            /// How it was settled.
            outcome: Resolution,
        }
        optional {
            /// Who or what settled it.
            by: String,
            /// The answer as data.
            answer: Value,
            /// What was said about it.
            reason: String,
        }
    }
}

words! {
    /// What kind of question it is.
    pub enum QuestionKind {
        /// The model asks.
        Questions,
        /// Whether to carry out a plan.
        Plan,
        /// An MCP server asks.
        Elicitation,
    }
}
