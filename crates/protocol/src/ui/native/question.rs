//! Details of single questions and of their options.

use super::{closed_enums, structures};

structures! {
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
