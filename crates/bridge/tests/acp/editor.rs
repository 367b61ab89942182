//! An editor on a WebSocket, and a server whose agents play a script.

use futures_util::SinkExt as _;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::test_server::{Socket, TestServer, receive};

/// The API of a server whose agents play a script.
pub(crate) async fn editor_server(script: &str) -> TestServer {
    TestServer::builder().script(script).api().start().await
}

/// An editor.
pub(crate) struct Editor {
    socket: Socket,
    next_id: u64,
    /// The updates, in their order.
    pub(crate) updates: Vec<Value>,
    /// Cursors of the updates.
    pub(crate) cursors: Vec<String>,
    /// Messages that no one has waited for yet.
    unread: Vec<Value>,
    /// The response to the request that opened the session.
    pub(crate) opened: Value,
}

impl Editor {
    pub(crate) async fn connect(server: &TestServer, scopes: &str) -> Self {
        let socket = server.socket_at("/v1/acp", Some(scopes)).await;
        let (updates, cursors, unread, opened) = (Vec::new(), Vec::new(), Vec::new(), Value::Null);
        Editor { socket, next_id: 0, updates, cursors, unread, opened }
    }

    /// An editor that may do everything, and offers nothing of its own.
    pub(crate) async fn ready(server: &TestServer) -> Self {
        let mut editor = Self::connect(server, "admin").await;
        editor.initialize(json!({})).await;
        editor
    }

    /// An editor with a new session.
    pub(crate) async fn open(server: &TestServer) -> (Self, String) {
        let mut editor = Self::ready(server).await;
        let session = editor.new_session(server).await;
        (editor, session)
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Value {
        self.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": capabilities})).await
    }

    pub(crate) async fn new_session(&mut self, server: &TestServer) -> String {
        self.opened = self.call("session/new", json!({"cwd": server.cwd(), "mcpServers": []})).await;
        self.opened["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.socket.send(Message::text(line)).await.unwrap();
    }

    pub(crate) async fn start(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send_line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
            .await;
        id
    }

    pub(crate) async fn start_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.start("session/prompt", json!({"sessionId": session, "prompt": prompt})).await
    }

    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> Value {
        let id = self.start_prompt(session, text).await;
        self.response(id).await
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        self.response(id).await
    }

    pub(crate) async fn response(&mut self, id: u64) -> Value {
        let mut message = self.wait(|message| message["id"] == id && message.get("method").is_none()).await;
        assert!(message.get("error").is_none(), "{message}");
        message["result"].take()
    }

    /// The error of a request.
    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        let mut message = self.wait(|message| message["id"] == id).await;
        assert!(message.get("error").is_some(), "{message}");
        message["error"].take()
    }

    /// The next request of the agent.
    pub(crate) async fn request(&mut self) -> Value {
        self.wait(|message| message.get("method").is_some() && message.get("id").is_some()).await
    }

    pub(crate) async fn notification(&mut self, method: &str) -> Value {
        self.wait(|message| message["method"] == method).await["params"].take()
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send_line(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send_line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    /// Waits for one more update.
    pub(crate) async fn next_update(&mut self) {
        let seen = self.updates.len();
        while self.updates.len() == seen {
            let message = receive(&mut self.socket).await.unwrap();
            self.take(message);
        }
    }

    pub(crate) async fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(at) = self.unread.iter().position(&wanted) {
                return self.unread.remove(at);
            }
            let message = receive(&mut self.socket).await.unwrap();
            self.take(message);
        }
    }

    fn take(&mut self, mut message: Value) {
        if message["method"] != "session/update" {
            return self.unread.push(message);
        }
        if let Some(cursor) = message["params"]["_meta"]["tidings"]["cursor"].as_str() {
            self.cursors.push(cursor.to_owned());
        }
        self.updates.push(message["params"]["update"].take());
    }

    /// The text of the agent.
    pub(crate) fn text(&self) -> String {
        let chunks = self.updates.iter().filter(|update| update["sessionUpdate"] == "agent_message_chunk");
        chunks.map(|update| update["content"]["text"].as_str().unwrap()).collect()
    }
}
