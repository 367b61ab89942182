//! Details of questions, and their resolution.

use serde_json::Value;

use super::{Resolution, closed_enums, events};
use crate::ui::TurnId;

events! {
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

    /// Details of one question.
    pub struct QuestionNote {
        required {
            /// The question.
            id: String,
        }
        optional {
            /// Short title of the question.
            header: String,
        }
        defaulted {
            /// One per option, in the same order.
            options: Vec<OptionDetails>,
        }
    }

    /// Details of one option.
    pub struct OptionDetails {
        required {
            /// The option.
            label: String,
        }
        optional {
            /// Explanation of the option.
            description: String,
            /// Preview of its result.
            preview: String,
        }
    }

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
}

closed_enums! {
    /// Kind of question.
    pub enum QuestionKind {
        /// Questions of the model.
        Questions,
        /// Approval of a plan.
        Plan,
        /// Elicitation by an MCP server.
        Elicitation,
    }
}
