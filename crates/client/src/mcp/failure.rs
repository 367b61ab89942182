//! The error of a tool, as a text for the model.

use std::error::Error;

use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::CallToolResponse;

use super::tool::failure;

/// The error of a tool, as a text for the model. Every error type converts to it with `?`.
///
/// ```
/// use tidings::mcp::Failure;
///
/// async fn count(text: String) -> Result<String, Failure> {
///     let number: u32 = text.parse()?;
///     let next = number.checked_add(1).ok_or_else(|| Failure::new("There is no next number"))?;
///     Ok(next.to_string())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

impl Failure {
    /// A failure with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Failure(text.into())
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        Failure(text)
    }
}

impl IntoCallToolResult for Failure {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Ok(failure(self.0))
    }
}
