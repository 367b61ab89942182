//! A `claude` that a test plays by hand.

use serde_json::{Value, json};
use tidings::transport::memory::{self, Memory, Peer, Voice};
use tidings::transport::{Exit, Transport};
use tidings::{Client, Options};

/// The other end of a session.
pub(crate) struct Cli {
    pub(crate) peer: Peer,
}

/// A carrier in memory and its other end.
pub(crate) fn pair() -> (Memory, Cli) {
    let (memory, peer) = memory::pair();
    (memory, Cli { peer })
}

/// A session that has shaken hands.
pub(crate) async fn session(options: Options) -> (Client, Cli) {
    let (memory, mut cli) = pair();
    let (client, ()) = tokio::join!(connect(memory, options), cli.shakes_hands());
    (client, cli)
}

async fn connect(transport: impl Transport + 'static, options: Options) -> Client {
    Client::connect_over(transport, options).await.unwrap()
}

impl Cli {
    pub(crate) async fn shakes_hands(&mut self) {
        let request = self.hears("control_request").await;
        assert_eq!(request["request"]["subtype"], "initialize");
        self.answers(&request, json!({"claude_code_version": "2.1.325", "commands": [], "models": []})).await;
    }

    /// The next line, which must be of this type.
    pub(crate) async fn hears(&mut self, kind: &str) -> Value {
        let line = self.peer.line().await.expect("the input has ended");
        let frame: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(frame["type"], kind, "{line}");
        frame
    }

    /// The next request, which must be of this subtype.
    pub(crate) async fn hears_request(&mut self, subtype: &str) -> Value {
        let request = self.hears("control_request").await;
        assert_eq!(request["request"]["subtype"], subtype);
        request
    }

    /// The next prompt's uuid.
    pub(crate) async fn hears_prompt(&mut self) -> String {
        self.hears("user").await["uuid"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn says(&self, frame: Value) {
        self.peer.say(&frame.to_string()).await;
    }

    pub(crate) async fn answers(&self, request: &Value, response: Value) {
        let response =
            json!({"subtype": "success", "request_id": request["request_id"], "response": response});
        self.says(json!({"type": "control_response", "response": response})).await;
    }

    pub(crate) async fn refuses(&self, request: &Value, error: &str, code: &str) {
        let id = &request["request_id"];
        let response = json!({"subtype": "error", "request_id": id, "error": error, "error_code": code});
        self.says(json!({"type": "control_response", "response": response})).await;
    }

    /// Asks the host something.
    pub(crate) async fn asks(&self, id: &str, request: Value) {
        self.says(json!({"type": "control_request", "request_id": id, "request": request})).await;
    }

    pub(crate) async fn takes_back(&self, id: &str) {
        self.says(json!({"type": "control_cancel_request", "request_id": id})).await;
    }

    /// Tells what becomes of a prompt.
    pub(crate) async fn tells(&self, uuid: &str, state: &str) {
        self.says(json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state})).await;
    }

    pub(crate) async fn begins(&self, uuids: &[&str]) {
        for uuid in uuids {
            self.tells(uuid, "started").await;
        }
        self.says(
            json!({"type": "system", "subtype": "init", "session_id": "s", "user_message_uuids": uuids}),
        )
        .await;
    }

    pub(crate) async fn writes(&self, text: &str) {
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
        self.says(json!({"type": "assistant", "message": message, "parent_tool_use_id": null})).await;
    }

    pub(crate) async fn ends(&self, uuids: &[&str], text: &str) {
        let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": text,
            "terminal_reason": "completed", "user_message_uuids": uuids});
        self.says(result).await;
        for uuid in uuids {
            self.tells(uuid, "completed").await;
        }
    }

    /// A whole turn that answers these prompts.
    pub(crate) async fn plays(&self, uuids: &[&str], text: &str) {
        self.begins(uuids).await;
        self.writes(text).await;
        self.ends(uuids, text).await;
    }

    /// Whether the session has ended its input; everything that it still says is passed over.
    pub(crate) async fn hears_the_end(&mut self) {
        while self.peer.line().await.is_some() {}
    }

    pub(crate) fn voice(&self) -> Voice {
        self.peer.voice()
    }

    pub(crate) async fn exits(self, code: i32) {
        self.peer.exit(Exit::code(code)).await;
    }
}
