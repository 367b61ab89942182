//! A request to the model, as a script sees it.

/// A request to the model, as seen by a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// Number of the request, from 1.
    pub number: usize,
    /// Requested model.
    pub model: String,
    /// Texts of the system prompt and of all messages, tool calls and results included.
    pub texts: Vec<String>,
    /// Text of the last message.
    pub last: String,
    /// Names of the offered tools.
    pub tools: Vec<String>,
}
