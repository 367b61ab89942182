//! Connects an editor to a server that may restart: what the editor has asked for is sent again, and sessions
//! go on after the last update that it has.
//!
//! The relay does no I/O. Its caller passes every line in, and sends the lines that come out.

use std::collections::{BTreeMap, BTreeSet};

use agent_client_protocol_schema::v1 as acp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::limits::{CALLS_KEPT_MAX, MESSAGE_BYTES_MAX};
use crate::lines::{id_of_call, too_long};
use crate::meta::{META, meta_of};
use crate::rpc::{self, Id, Message, RpcError};

/// Ids of requests that the relay itself makes begin with this.
const OWN: &str = "tidings-relay/";

/// The state between an editor and its server.
#[derive(Debug)]
pub struct Relay {
    /// Name of this relay, for idempotency keys.
    name: String,
    /// The editor's `initialize`, repeated on each connection.
    initialize: Option<Value>,
    /// Sessions that the editor has opened.
    sessions: BTreeMap<String, RelaySession>,
    /// Requests of the editor without a response, in their order.
    calls: Vec<KeptCall>,
    /// Requests of the server that the editor has, with the session of each.
    asked: BTreeMap<Id, String>,
    /// Lines for the server while it is away.
    waiting: Vec<String>,
    is_connected: bool,
    count: u64,
}

#[derive(Debug, Clone, Default)]
struct RelaySession {
    cwd: String,
    cursor: Option<String>,
}

#[derive(Debug)]
struct KeptCall {
    id: Id,
    method: String,
    session: Option<String>,
    cwd: Option<String>,
    line: String,
}

/// Lines that a step produces.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RelayOutput {
    /// For the server.
    pub to_server: Vec<String>,
    /// For the editor.
    pub to_editor: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateHead<'a> {
    #[serde(borrow, default)]
    session_id: Option<std::borrow::Cow<'a, str>>,
    #[serde(rename = "_meta", default)]
    meta: Option<Map<String, Value>>,
}

impl Relay {
    /// A relay with a name that no other one has.
    pub fn new(name: &str) -> Self {
        Relay {
            name: name.to_owned(),
            initialize: None,
            sessions: BTreeMap::new(),
            calls: Vec::new(),
            asked: BTreeMap::new(),
            waiting: Vec::new(),
            is_connected: false,
            count: 0,
        }
    }

    /// True if the editor waits for a response.
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Takes a line of the editor.
    pub fn from_editor(&mut self, line: &str) -> RelayOutput {
        let message = match Message::read(line) {
            Ok(message) => message,
            Err(error) => {
                let answer = rpc::response(id_of_call(line).as_ref(), &Err(error));
                return RelayOutput { to_editor: vec![answer], ..RelayOutput::default() };
            }
        };
        let line = match message {
            Message::Request { id, method, params } => match self.keep(id, method, &params, line) {
                Ok(line) => line,
                Err(refused) => return RelayOutput { to_editor: vec![refused], ..RelayOutput::default() },
            },
            Message::Response { id, .. } => {
                if self.asked.remove(&id).is_none() {
                    return RelayOutput::default();
                }
                line.to_owned()
            }
            Message::Notification { .. } => line.to_owned(),
        };
        self.send(line)
    }

    fn send(&mut self, line: String) -> RelayOutput {
        if self.is_connected {
            return RelayOutput { to_server: vec![line], ..RelayOutput::default() };
        }
        // Requests are sent again from `calls`; answers and notifications wait here.
        if !matches!(Message::read(&line), Ok(Message::Request { .. })) && self.waiting.len() < CALLS_KEPT_MAX
        {
            self.waiting.push(line);
        }
        RelayOutput::default()
    }

    /// Keeps a request until its response. Returns its line for the server, or the response that refuses it.
    fn keep(&mut self, id: Id, method: String, params: &RawValue, line: &str) -> Result<String, String> {
        if self.calls.iter().any(|call| call.id == id) {
            let message = format!("A request with the id {} is under way", id.as_json());
            let error = RpcError::new(RpcError::INVALID_REQUEST, message, "give each request its own id");
            return Err(rpc::response(Some(&id), &Err(error)));
        }
        if self.calls.len() >= CALLS_KEPT_MAX {
            let error =
                RpcError::new(RpcError::INTERNAL, "Too many requests are under way", "wait for some of them");
            return Err(rpc::response(Some(&id), &Err(error)));
        }
        let mut params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let line = if matches!(method.as_str(), "session/new" | "session/prompt") && params.is_object() {
            // The same key on each connection: nothing is created or sent twice.
            self.count += 1;
            if meta_of(&params, "clientId").is_none() {
                set_ours(&mut params, "clientId", format!("{}/{}", self.name, self.count));
            }
            rpc::request(&id, &method, &params)
        } else {
            line.trim_end().to_owned()
        };
        // A server would refuse it, or close the connection.
        if line.len() > MESSAGE_BYTES_MAX {
            let error = too_long(line.len() as u64, MESSAGE_BYTES_MAX);
            return Err(rpc::response(Some(&id), &Err(error)));
        }
        if method == "initialize" {
            self.initialize = Some(params.clone()).filter(Value::is_object);
        }
        let text = |key: &str| params[key].as_str().map(str::to_owned);
        let call = KeptCall { id, method, session: text("sessionId"), cwd: text("cwd"), line: line.clone() };
        self.calls.push(call);
        Ok(line)
    }

    /// Takes a line of the server.
    pub fn from_server(&mut self, line: &str) -> RelayOutput {
        let forward = || RelayOutput { to_editor: vec![line.to_owned()], ..RelayOutput::default() };
        match Message::read(line) {
            Ok(Message::Notification { method, params }) => {
                if method == "session/update" {
                    self.note_cursor(&params);
                }
                if method == "$/cancel_request" {
                    self.forget_asked(&params);
                }
                forward()
            }
            Ok(Message::Request { id, params, .. }) => {
                let head: Option<UpdateHead<'_>> = serde_json::from_str(params.get()).ok();
                let session = head.and_then(|head| head.session_id).unwrap_or_default().into_owned();
                // The editor has it from an earlier connection.
                if self.asked.insert(id, session).is_some() { RelayOutput::default() } else { forward() }
            }
            Ok(Message::Response { id, result }) => self.response(&id, &result, line),
            Err(_) => RelayOutput::default(),
        }
    }

    fn note_cursor(&mut self, params: &RawValue) {
        let Ok(head) = serde_json::from_str::<UpdateHead<'_>>(params.get()) else { return };
        let cursor = head.meta.as_ref().and_then(|meta| meta.get(META)?.get("cursor")?.as_str());
        if let (Some(session), Some(cursor)) =
            (head.session_id.and_then(|id| self.sessions.get_mut(&*id)), cursor)
        {
            session.cursor = Some(cursor.to_owned());
        }
    }

    fn forget_asked(&mut self, params: &RawValue) {
        let Ok(params) = serde_json::from_str::<Value>(params.get()) else { return };
        if let Some(id) = params["requestId"].as_str() {
            self.asked.remove(&Id::of_text(id));
        }
    }

    fn response(&mut self, id: &Id, result: &Result<Box<RawValue>, RpcError>, line: &str) -> RelayOutput {
        let value = result.as_ref().ok().and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        if let Some(own) = id.text().and_then(|text| text.strip_prefix(OWN).map(str::to_owned)) {
            return self.own_response(&own, value.as_ref(), result.as_ref().err());
        }
        let Some(at) = self.calls.iter().position(|call| call.id == *id) else {
            return RelayOutput::default();
        };
        let call = self.calls.remove(at);
        if let Some(value) = &value {
            self.note_session(&call, value);
        }
        RelayOutput { to_editor: vec![line.to_owned()], ..RelayOutput::default() }
    }

    fn note_session(&mut self, call: &KeptCall, result: &Value) {
        let session = match call.method.as_str() {
            "session/new" => result["sessionId"].as_str().map(str::to_owned),
            "session/load" | "session/resume" => call.session.clone(),
            "session/close" | "session/delete" => {
                if let Some(session) = &call.session {
                    self.sessions.remove(session);
                }
                return;
            }
            _ => {
                let ended = call.session.as_ref().and_then(|session| self.sessions.get_mut(session));
                if let (Some(session), Some(cursor)) =
                    (ended, meta_of(result, "cursor").and_then(Value::as_str))
                {
                    session.cursor = Some(cursor.to_owned());
                }
                return;
            }
        };
        if let Some(session) = session {
            let cursor = meta_of(result, "cursor").and_then(Value::as_str).map(str::to_owned);
            self.sessions.insert(session, RelaySession { cwd: call.cwd.clone().unwrap_or_default(), cursor });
        }
    }

    /// The response to a request of the relay: an `initialize`, or the `session/resume` of a session.
    fn own_response(&mut self, own: &str, result: Option<&Value>, error: Option<&RpcError>) -> RelayOutput {
        let mut output = RelayOutput::default();
        let Some(session) = own.strip_prefix("resume/") else { return output };
        let pending: BTreeSet<Id> = result
            .and_then(|result| meta_of(result, "pending")?.as_array())
            .into_iter()
            .flatten()
            .filter_map(|id| id.as_str().map(Id::of_text))
            .collect();
        // Requests that were answered elsewhere in the meantime, or went with their session.
        let gone: Vec<Id> = self
            .asked
            .iter()
            .filter(|(id, of)| *of == session && !pending.contains(*id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in gone {
            self.asked.remove(&id);
            output.to_editor.push(rpc::cancel_request(&id));
        }
        if let Some(error) = error {
            // The editor learns it from the response to its next request.
            self.sessions.remove(session);
            let (failed, rest) = std::mem::take(&mut self.calls).into_iter().partition::<Vec<_>, _>(|call| {
                call.method == "session/prompt" && call.session.as_deref() == Some(session)
            });
            self.calls = rest;
            let answers = failed.iter().map(|call| rpc::response(Some(&call.id), &Err(error.clone())));
            output.to_editor.extend(answers);
        }
        output
    }

    /// The connection is lost.
    pub fn disconnected(&mut self) {
        self.is_connected = false;
    }

    /// The connection is there, or there again. Returns the lines that continue on it.
    pub fn connected(&mut self) -> RelayOutput {
        self.is_connected = true;
        let mut lines = Vec::new();
        let asks_now = self.calls.iter().any(|call| call.method == "initialize");
        if let Some(params) = self.initialize.as_ref().filter(|_| !asks_now) {
            lines.push(rpc::request(&Id::of_text(&format!("{OWN}initialize")), "initialize", params));
        }
        lines.extend(
            self.calls.iter().filter(|call| call.method == "initialize").map(|call| call.line.clone()),
        );
        for (session, state) in &self.sessions {
            // `session/resume` has the same parameters, and this type writes an empty list of MCP servers.
            let mut params = rpc::to_value(&acp::LoadSessionRequest::new(session.clone(), &state.cwd));
            if let Some(cursor) = &state.cursor {
                set_ours(&mut params, "after", cursor.as_str());
            }
            lines.push(rpc::request(
                &Id::of_text(&format!("{OWN}resume/{session}")),
                "session/resume",
                &params,
            ));
        }
        lines.extend(
            self.calls.iter().filter(|call| call.method != "initialize").map(|call| call.line.clone()),
        );
        lines.append(&mut self.waiting);
        RelayOutput { to_server: lines, ..RelayOutput::default() }
    }

    /// Gives up: every request of the editor gets this error.
    pub fn give_up(&mut self, message: &str) -> Vec<String> {
        let error = RpcError::new(RpcError::INTERNAL, message, "check that the server runs");
        let calls = std::mem::take(&mut self.calls);
        calls.iter().map(|call| rpc::response(Some(&call.id), &Err(error.clone()))).collect()
    }
}

/// Sets a value of ours in the `_meta` of parameters.
fn set_ours(params: &mut Value, key: &str, value: impl Into<Value>) {
    let Value::Object(params) = params else { return };
    let meta = params.entry("_meta").or_insert(Value::Null);
    if !meta.is_object() {
        *meta = Value::Null;
    }
    let ours = &mut meta[META];
    if !ours.is_object() {
        *ours = Value::Null;
    }
    // Indexing turns `null` into an object.
    ours[key] = value.into();
}
