//! A `claude` that a test plays step by step.

use serde_json::{Value, json};
use tidings::transport::memory::{self, Memory, Peer, PeerSender};
use tidings::transport::{Exit, Transport};
use tidings::{Client, Options};

/// The other end of a session.
pub(crate) struct ScriptedCli {
    pub(crate) peer: Peer,
}

/// An in-memory transport and its other end.
pub(crate) fn pair() -> (Memory, ScriptedCli) {
    let (memory, peer) = memory::pair();
    (memory, ScriptedCli { peer })
}

/// A session after the handshake.
pub(crate) async fn session(options: Options) -> (Client, ScriptedCli) {
    let (memory, mut cli) = pair();
    let (client, ()) = tokio::join!(connect(memory, options), cli.initializes());
    (client, cli)
}

async fn connect(transport: impl Transport + 'static, options: Options) -> Client {
    Client::connect_over(transport, options).await.unwrap()
}

impl ScriptedCli {
    pub(crate) async fn initializes(&mut self) {
        let request = self.receives("control_request").await;
        assert_eq!(request["request"]["subtype"], "initialize");
        self.answers(&request, json!({"claude_code_version": "2.1.325", "commands": [], "models": []})).await;
    }

    /// The next line, which must be of this type.
    pub(crate) async fn receives(&mut self, kind: &str) -> Value {
        let line = self.peer.line().await.expect("the input has ended");
        let frame: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(frame["type"], kind, "{line}");
        frame
    }

    /// The next request, which must be of this subtype.
    pub(crate) async fn receives_request(&mut self, subtype: &str) -> Value {
        let request = self.receives("control_request").await;
        assert_eq!(request["request"]["subtype"], subtype);
        request
    }

    /// The next prompt's uuid.
    pub(crate) async fn receives_prompt(&mut self) -> String {
        self.receives("user").await["uuid"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn sends(&self, frame: Value) {
        self.peer.say(&frame.to_string()).await;
    }

    pub(crate) async fn answers(&self, request: &Value, response: Value) {
        let response =
            json!({"subtype": "success", "request_id": request["request_id"], "response": response});
        self.sends(json!({"type": "control_response", "response": response})).await;
    }

    pub(crate) async fn refuses(&self, request: &Value, error: &str, code: &str) {
        let id = &request["request_id"];
        let response = json!({"subtype": "error", "request_id": id, "error": error, "error_code": code});
        self.sends(json!({"type": "control_response", "response": response})).await;
    }

    /// Sends a control request to the host.
    pub(crate) async fn requests(&self, id: &str, request: Value) {
        self.sends(json!({"type": "control_request", "request_id": id, "request": request})).await;
    }

    pub(crate) async fn cancels(&self, id: &str) {
        self.sends(json!({"type": "control_cancel_request", "request_id": id})).await;
    }

    /// Reports the state of a prompt.
    pub(crate) async fn reports(&self, uuid: &str, state: &str) {
        self.sends(json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state})).await;
    }

    pub(crate) async fn begins(&self, uuids: &[&str]) {
        for uuid in uuids {
            self.reports(uuid, "started").await;
        }
        self.sends(
            json!({"type": "system", "subtype": "init", "session_id": "s", "user_message_uuids": uuids}),
        )
        .await;
    }

    pub(crate) async fn writes(&self, text: &str) {
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
        self.sends(json!({"type": "assistant", "message": message, "parent_tool_use_id": null})).await;
    }

    pub(crate) async fn ends(&self, uuids: &[&str], text: &str) {
        let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": text,
            "terminal_reason": "completed", "user_message_uuids": uuids});
        self.sends(result).await;
        for uuid in uuids {
            self.reports(uuid, "completed").await;
        }
    }

    /// A whole turn that answers these prompts.
    pub(crate) async fn plays(&self, uuids: &[&str], text: &str) {
        self.begins(uuids).await;
        self.writes(text).await;
        self.ends(uuids, text).await;
    }

    /// Waits until the session has ended its input; skips all other lines.
    pub(crate) async fn receives_end(&mut self) {
        while self.peer.line().await.is_some() {}
    }

    pub(crate) fn voice(&self) -> PeerSender {
        self.peer.voice()
    }

    pub(crate) async fn exits(self, code: i32) {
        self.peer.exit(Exit::code(code)).await;
    }
}
