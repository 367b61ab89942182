//! An agent that a test controls line by line.

use std::sync::Arc;

use serde_json::{Value, json};
use tidings::Options;
use tidings::transport::memory::{self, Peer, PeerSender};
use tidings_agent::policy::Interactive;
use tidings_agent::{AgentSession, ChannelEventSink, Setup, UiMessage};
use tokio::sync::mpsc;

/// A session, the agent's side of it, and its events.
pub(crate) struct Puppet {
    pub(crate) session: AgentSession,
    pub(crate) events: mpsc::Receiver<UiMessage>,
    pub(crate) voice: PeerSender,
    peer: Peer,
}

pub(crate) fn interactive() -> Setup {
    Setup::new(1, Arc::new(Interactive))
}

impl Puppet {
    /// Starts a session whose sink has room for `room` events.
    pub(crate) async fn start(setup: Setup, room: usize) -> Self {
        let (memory, mut peer) = memory::pair();
        let (sink, events) = ChannelEventSink::new(room);
        let voice = peer.voice();
        let greeted = tokio::spawn(async move {
            let asked: Value = serde_json::from_str(&peer.line().await.unwrap()).unwrap();
            let response = json!({"subtype": "success", "request_id": asked["request_id"], "response": {}});
            peer.say(&json!({"type": "control_response", "response": response}).to_string()).await;
            peer
        });
        let session = AgentSession::start_over(memory, Options::new(), setup, Box::new(sink)).await.unwrap();
        Puppet { session, events, voice, peer: greeted.await.unwrap() }
    }

    /// Writes a frame of the agent.
    pub(crate) async fn say(&self, frame: Value) {
        self.voice.say(&frame.to_string()).await;
    }

    /// Writes a message with calls, one frame for each.
    pub(crate) async fn call(&self, calls: &[&str]) {
        for id in calls {
            self.write(json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}})).await;
        }
    }

    /// Writes a block of a message.
    pub(crate) async fn write(&self, block: Value) {
        let uuid = block["id"].clone();
        let message = json!({"id": "msg_1", "role": "assistant", "type": "message", "model": "m", "content": [block],
            "usage": {"input_tokens": 1, "output_tokens": 1}});
        self.say(
            json!({"type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": "s",
            "uuid": uuid}),
        )
        .await;
    }

    /// Writes a stream event without content.
    pub(crate) async fn stream(&self, kind: &str) {
        let event = match kind {
            "message_start" => {
                json!({"type": kind, "message": {"id": "msg_1", "role": "assistant", "type": "message",
                "model": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}})
            }
            _ => json!({"type": kind}),
        };
        self.say(json!({"type": "stream_event", "event": event, "session_id": "s", "uuid": "e",
            "parent_tool_use_id": null}))
            .await;
    }

    /// Writes a permission request for a call.
    pub(crate) async fn ask(&self, request_id: &str, call: &str) {
        let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": call}, "tool_use_id": call});
        self.say(json!({"type": "control_request", "request_id": request_id, "request": request})).await;
    }

    /// Writes the result of the turn.
    pub(crate) async fn result(&self) {
        self.say(json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": "",
            "session_id": "s", "uuid": "r", "duration_ms": 1, "duration_api_ms": 1, "total_cost_usd": 0.0, "usage": {}}))
            .await;
    }

    /// The next line that the session wrote.
    pub(crate) async fn written(&mut self) -> Value {
        serde_json::from_str(&self.peer.line().await.unwrap()).unwrap()
    }

    /// The events up to and including the first that matches.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&UiMessage) -> bool) -> Vec<UiMessage> {
        let mut seen = Vec::new();
        loop {
            let Some(event) = self.events.recv().await else { panic!("it never came; these did: {seen:#?}") };
            seen.push(event);
            if seen.last().is_some_and(&wanted) {
                return seen;
            }
        }
    }

    /// All remaining events.
    pub(crate) async fn rest(&mut self) -> Vec<UiMessage> {
        let mut seen = Vec::new();
        while let Some(event) = self.events.recv().await {
            seen.push(event);
        }
        seen
    }
}
