//! `elicitation`: request of an MCP server for input from the user.

use crate::json::{Json, object, open_string};

open_string! {
    /// Kind of input that an MCP server requests.
    pub struct ElicitationMode {
        FORM = "form",
        URL = "url",
    }

    /// Reaction of the user to an elicitation.
    pub struct ElicitationAction {
        DECLINE = "decline",
        ACCEPT = "accept",
        CANCEL = "cancel",
    }
}

object! {
    /// Request of an MCP server for input from the user.
    pub struct Elicitation {
        req mcp_server_name: String,
        def message: String,
        opt mode: ElicitationMode,
        /// Page to open, in the mode `url`.
        opt url: String,
        opt elicitation_id: String,
        /// JSON Schema of the answer, in the mode `form`.
        opt requested_schema: Json,
        /// Display order of the fields, since the members of a schema are unordered.
        opt property_order: Vec<String>,
        opt title: String,
        opt display_name: String,
        opt description: String,
    }

    /// Answer to an [`Elicitation`].
    pub struct ElicitationAnswer {
        req action: ElicitationAction,
        /// Input of the user.
        opt content: Json,
    }
}

impl ElicitationAnswer {
    /// The user filled in the form, or opened the page.
    pub fn accept(content: impl Into<Option<Json>>) -> Self {
        ElicitationAnswer {
            action: ElicitationAction::ACCEPT,
            content: content.into(),
            ..ElicitationAnswer::default()
        }
    }

    /// The user declined.
    pub fn decline() -> Self {
        ElicitationAnswer { action: ElicitationAction::DECLINE, ..ElicitationAnswer::default() }
    }

    /// The user cancelled.
    pub fn cancel() -> Self {
        ElicitationAnswer { action: ElicitationAction::CANCEL, ..ElicitationAnswer::default() }
    }
}
