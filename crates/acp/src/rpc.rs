//! JSON-RPC messages of the protocol, one per line or WebSocket message.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Id of a request. Its text is kept as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(String);

/// A message of the other side.
#[derive(Debug)]
pub enum Message {
    /// A request, which gets one response.
    Request {
        /// Id of the request.
        id: Id,
        /// Name of the method.
        method: String,
        /// Its parameters; an empty object if there are none.
        params: Box<RawValue>,
    },
    /// A notification, which gets no response.
    Notification {
        /// Name of the method.
        method: String,
        /// Its parameters; an empty object if there are none.
        params: Box<RawValue>,
    },
    /// The response to a request of ours.
    Response {
        /// Id of the request.
        id: Id,
        /// Its result, or the error.
        result: Result<Box<RawValue>, RpcError>,
    },
}

/// An error of the protocol: a code, a sentence, and details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// Code, as listed by JSON-RPC and by the protocol.
    pub code: i64,
    /// Error message to show.
    #[serde(default)]
    pub message: String,
    /// Details, such as a hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Id {
    /// An id of ours.
    pub fn of_text(text: &str) -> Self {
        Id(Value::from(text).to_string())
    }

    /// An id that is a number, or any other JSON.
    pub(crate) fn of_number(number: &Value) -> Self {
        Id(number.to_string())
    }

    /// The id as JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// The text of an id that is a string.
    pub fn text(&self) -> Option<String> {
        serde_json::from_str(&self.0).ok()
    }

    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let is_id = text.starts_with('"') || text.parse::<i64>().is_ok();
        is_id.then(|| Id(text.to_owned()))
    }
}

impl RpcError {
    /// The line is not JSON.
    pub const PARSE: i64 = -32700;
    /// The message is not a request, or comes at the wrong time.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    pub const NO_METHOD: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The request failed.
    pub const INTERNAL: i64 = -32603;
    /// The request was cancelled.
    pub const CANCELLED: i64 = -32800;
    /// The user has to sign in first.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// No such session or file.
    pub const NOT_FOUND: i64 = -32002;

    /// An error with a hint.
    pub fn new(code: i64, message: impl Into<String>, hint: &str) -> Self {
        let data = (!hint.is_empty()).then(|| Value::from_iter([("hint", hint)]));
        RpcError { code, message: message.into(), data }
    }

    /// The parameters of a method do not fit.
    pub(crate) fn params(method: &str, error: impl std::fmt::Display) -> Self {
        let message = format!("Invalid parameters of `{method}`: {error}");
        RpcError::new(
            RpcError::INVALID_PARAMS,
            message,
            "see the schema of the Agent Client Protocol, version 1",
        )
    }

    /// There is no such method.
    pub fn no_method(method: &str) -> Self {
        RpcError::new(RpcError::NO_METHOD, format!("There is no method `{method}`"), "")
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<RpcError>,
}

impl Message {
    /// Reads a message. The error is for the sender; `lines::id_of_call` finds the id of such a message.
    pub fn read(line: &str) -> Result<Message, RpcError> {
        let wrong = |message: &str| RpcError::new(RpcError::INVALID_REQUEST, message, "");
        let envelope: Envelope<'_> = match serde_json::from_str(line) {
            Ok(envelope) => envelope,
            Err(error) if error.is_data() => {
                let hint = "send one JSON-RPC message per line; there are no batches";
                return Err(RpcError::new(
                    RpcError::INVALID_REQUEST,
                    format!("Not a message: {error}"),
                    hint,
                ));
            }
            Err(error) => {
                let hint = "send one JSON object per line";
                return Err(RpcError::new(RpcError::PARSE, format!("Not JSON: {error}"), hint));
            }
        };
        // `"id": null` is read as no id, so a request with one is a notification.
        let id = match envelope.id.map(Id::read) {
            Some(None) => return Err(wrong("The id is neither a number nor a string")),
            Some(id) => id,
            None => None,
        };
        let params = || envelope.params.map_or_else(|| RawValue::NULL.to_owned(), ToOwned::to_owned);
        match (envelope.method, id) {
            (Some(method), Some(id)) => Ok(Message::Request { id, method, params: or_empty(params()) }),
            (Some(method), None) => Ok(Message::Notification { method, params: or_empty(params()) }),
            (None, Some(id)) => {
                let result = match (envelope.result, envelope.error) {
                    (_, Some(error)) => Err(error),
                    (Some(result), None) => Ok(result.to_owned()),
                    // A result of `null` is read as none.
                    (None, None) => Ok(RawValue::NULL.to_owned()),
                };
                Ok(Message::Response { id, result })
            }
            (None, None) => Err(wrong("The message has neither a method nor an id")),
        }
    }
}

fn or_empty(params: Box<RawValue>) -> Box<RawValue> {
    if params.get() == "null" { RawValue::from_string("{}".to_owned()).unwrap_or(params) } else { params }
}

/// The response to a request.
pub fn response(id: Option<&Id>, result: &Result<Value, RpcError>) -> String {
    match result {
        Ok(result) => success(id, result),
        Err(error) => failure(id, error),
    }
}

/// The response to a request that succeeded.
pub(crate) fn success(id: Option<&Id>, result: &impl Serialize) -> String {
    let id = id.map_or("null", Id::as_json);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, json(result))
}

/// The response to a request that failed.
pub(crate) fn failure(id: Option<&Id>, error: &RpcError) -> String {
    let id = id.map_or("null", Id::as_json);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, json(error))
}

/// A request.
pub fn request(id: &Id, method: &str, params: &impl Serialize) -> String {
    let params = json(params);
    format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, id.as_json())
}

/// A notification.
pub fn notification(method: &str, params: &impl Serialize) -> String {
    [r#"{"jsonrpc":"2.0","method":""#, method, r#"","params":"#, &json(params), "}"].concat()
}

/// The notification that a request of ours needs no answer any more.
pub fn cancel_request(id: &Id) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{}}}}}"#, id.as_json())
}

/// Parameters or a result as a tree.
pub(crate) fn to_value(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

/// A part of a message as JSON. Parts are maps with texts as keys, which always have a JSON form.
fn json(part: &impl Serialize) -> String {
    serde_json::to_string(part).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_that_are_no_messages_get_an_error_with_a_code() {
        let code = |line: &str| Message::read(line).unwrap_err().code;
        assert_eq!(code("not json"), RpcError::PARSE);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"#), RpcError::PARSE);
        assert_eq!(code("[]"), RpcError::INVALID_REQUEST);
        assert_eq!(code(r#"{"id":{},"method":"a"}"#), RpcError::INVALID_REQUEST);
        assert_eq!(code(r#"{"id":1.5,"method":"a"}"#), RpcError::INVALID_REQUEST);
        assert_eq!(code(r#"{"id":1,"method":7}"#), RpcError::INVALID_REQUEST);
        assert_eq!(code("{}"), RpcError::INVALID_REQUEST);
        assert_eq!(code(&format!("{}1{}", "[".repeat(5000), "]".repeat(5000))), RpcError::INVALID_REQUEST);
    }

    #[test]
    fn ids_come_back_as_they_were_sent() {
        for id in ["7", "-1", r#""a\u0062""#, r#""""#] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize"}}"#);
            let Ok(Message::Request { id: read, params, .. }) = Message::read(&line) else { panic!("{id}") };
            assert_eq!(params.get(), "{}");
            let answer = response(Some(&read), &Ok(json!({})));
            assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }

    #[test]
    fn responses_without_a_result_are_read() {
        let Ok(Message::Response { result, .. }) = Message::read(r#"{"id":1,"result":null}"#) else {
            panic!()
        };
        assert_eq!(result.unwrap().get(), "null");
    }
}
