//! `elicitation`: an MCP server asks the user something.

use crate::json::{Json, object, open_string};

open_string! {
    /// How an MCP server wants to be answered.
    pub struct ElicitationMode {
        FORM = "form",
        URL = "url",
    }

    /// What the user did with the question.
    pub struct ElicitationAction {
        DECLINE = "decline",
        ACCEPT = "accept",
        CANCEL = "cancel",
    }
}

object! {
    /// An MCP server asks the user something.
    pub struct Elicitation {
        req mcp_server_name: String,
        def message: String,
        opt mode: ElicitationMode,
        /// Where to send the user, in the mode `url`.
        opt url: String,
        opt elicitation_id: String,
        /// The JSON Schema of the answer, in the mode `form`.
        opt requested_schema: Json,
        /// The order in which to show the fields, since the members of a schema have none.
        opt property_order: Vec<String>,
        opt title: String,
        opt display_name: String,
        opt description: String,
    }

    /// The answer to an [`Elicitation`].
    pub struct ElicitationAnswer {
        req action: ElicitationAction,
        /// What the user filled in.
        opt content: Json,
    }
}

impl ElicitationAnswer {
    /// The user filled in the form, or has gone to the address.
    pub fn accept(content: impl Into<Option<Json>>) -> Self {
        ElicitationAnswer {
            action: ElicitationAction::ACCEPT,
            content: content.into(),
            ..ElicitationAnswer::default()
        }
    }

    /// The user said no.
    pub fn decline() -> Self {
        ElicitationAnswer { action: ElicitationAction::DECLINE, ..ElicitationAnswer::default() }
    }

    /// The user closed the question.
    pub fn cancel() -> Self {
        ElicitationAnswer { action: ElicitationAction::CANCEL, ..ElicitationAnswer::default() }
    }
}
