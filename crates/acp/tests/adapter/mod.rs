//! Other agents in place of Claude Code: both sides of the adapter, line by line.

mod hostile;
mod listing;
mod recorded;
mod sessions;
mod turns;

use serde_json::{Value, json};
use tidings_acp::adapter::{Adapter, AdapterSettings, Effect};
use tidings_protocol::{FrameRef, Kind};

/// An adapter, and what it has sent to both sides.
struct Wire {
    adapter: Adapter,
    host: Vec<Value>,
    agent: Vec<Value>,
    other: Vec<Effect>,
    /// The lines to both sides, in order.
    all: Vec<Value>,
}

impl Wire {
    fn new(settings: AdapterSettings) -> Self {
        let mut next = 0;
        let ids = move || {
            next += 1;
            format!("id-{next}")
        };
        let mut now = 0;
        let clock = move || {
            now += 10;
            now
        };
        let adapter = Adapter::new(settings, ids, clock);
        let mut wire =
            Wire { adapter, host: Vec::new(), agent: Vec::new(), other: Vec::new(), all: Vec::new() };
        wire.collect();
        wire
    }

    /// An adapter whose session is open.
    fn open() -> Self {
        Wire::open_with(settings(), &json!({}), &json!({"sessionId": "own-1"}))
    }

    fn open_with(settings: AdapterSettings, initialize: &Value, session: &Value) -> Self {
        let mut wire = Wire::new(settings);
        wire.host(
            &json!({"type": "control_request", "request_id": "h", "request": {"subtype": "initialize"}}),
        );
        wire.answer("initialize", &described(initialize));
        wire.answer("session/new", session);
        wire.host.clear();
        wire
    }

    fn collect(&mut self) {
        for effect in self.adapter.effects() {
            match effect {
                Effect::ToHost(line) => {
                    // Every line is a frame that our own decoder knows.
                    let frame = FrameRef::from_json(&line).unwrap();
                    let is_lifecycle = frame.type_name().as_deref() == Some("command_lifecycle");
                    assert!(frame.kind() != Kind::Unknown || is_lifecycle, "{line}");
                    let line = serde_json::from_str(&line).unwrap_or_else(|_| json!({"unreadable": line}));
                    self.all.push(json!({"host": line}));
                    self.host.push(line);
                }
                Effect::ToAgent(line) => {
                    let line: Value = serde_json::from_str(&line).unwrap();
                    self.all.push(json!({"agent": line}));
                    self.agent.push(line);
                }
                other => self.other.push(other),
            }
        }
    }

    fn host(&mut self, message: &Value) {
        self.adapter.from_host(&message.to_string());
        self.collect();
    }

    fn agent(&mut self, message: &Value) {
        self.agent_line(&message.to_string());
    }

    fn agent_line(&mut self, line: &str) {
        self.adapter.from_agent(line);
        self.collect();
    }

    fn prompt(&mut self, text: &str) {
        let message = json!({"role": "user", "content": text});
        self.host(&json!({"type": "user", "uuid": format!("u-{text}"), "message": message}));
    }

    fn update(&mut self, update: &Value) {
        let params = json!({"sessionId": "own-1", "update": update});
        self.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }

    fn text(&mut self, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.update(&json!({"sessionUpdate": "agent_message_chunk", "content": content}));
    }

    /// The id of the newest request of this method.
    fn asked(&self, method: &str) -> Value {
        let request = self.agent.iter().rev().find(|message| message["method"] == method);
        request.unwrap_or_else(|| panic!("no {method} in {:?}", self.agent))["id"].clone()
    }

    /// Answers the newest request of this method.
    fn answer(&mut self, method: &str, result: &Value) {
        let id = self.asked(method);
        self.agent(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn refuse(&mut self, method: &str, error: &Value) {
        let id = self.asked(method);
        self.agent(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) {
        let mut params = params.clone();
        params["sessionId"] = json!("own-1");
        self.agent(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// The response to a request of the agent.
    fn response(&self, id: u64) -> &Value {
        let is_it = |message: &&Value| message["id"] == id && message.get("method").is_none();
        self.agent.iter().find(is_it).unwrap_or_else(|| panic!("no response {id} in {:?}", self.agent))
    }

    /// The open permission request of the host.
    fn permission(&self) -> (&str, &Value) {
        let is_ask = |frame: &&Value| frame["request"]["subtype"] == "can_use_tool";
        let frame = self.host.iter().rev().find(is_ask).expect("a permission request");
        (frame["request_id"].as_str().unwrap(), &frame["request"])
    }

    fn decide(&mut self, body: &Value) {
        let id = self.permission().0.to_owned();
        let response = json!({"subtype": "success", "request_id": id, "response": body});
        self.host(&json!({"type": "control_response", "response": response}));
    }

    /// Types and subtypes of what the host got, deltas left out.
    fn shape(&self) -> Vec<String> {
        let name = |frame: &Value| {
            let kind = frame["type"].as_str().unwrap_or_default();
            let detail = ["subtype", "state"].iter().find_map(|key| frame[*key].as_str());
            let block = frame["message"]["content"][0]["type"].as_str();
            let detail = detail.or(block).or_else(|| frame["event"]["type"].as_str());
            detail.map_or_else(|| kind.to_owned(), |detail| format!("{kind} {detail}"))
        };
        let is_shown = |frame: &&Value| {
            frame["type"] != "stream_event" && frame["status"] != Value::Null || frame["subtype"] != "status"
        };
        self.host.iter().filter(is_shown).filter(|frame| frame["type"] != "stream_event").map(name).collect()
    }

    fn blocks(&self, kind: &str) -> Vec<&Value> {
        let blocks = self.host.iter().map(|frame| &frame["message"]["content"][0]);
        blocks.filter(|block| block["type"] == kind).collect()
    }

    fn result(&self) -> &Value {
        self.host.iter().rev().find(|frame| frame["type"] == "result").expect("a result")
    }
}

fn settings() -> AdapterSettings {
    AdapterSettings {
        name: "sample".to_owned(),
        cwd: "/home/ada/shop".to_owned(),
        partial_messages: true,
        ..AdapterSettings::default()
    }
}

fn described(more: &Value) -> Value {
    let mut all = json!({
        "protocolVersion": 1, "agentInfo": {"name": "sample", "version": "2.0"}, "authMethods": [],
        "agentCapabilities": {"loadSession": true, "promptCapabilities": {"image": true}},
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    all
}

fn options() -> Value {
    json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "always", "name": "Always allow npm test", "kind": "allow_always"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ])
}
