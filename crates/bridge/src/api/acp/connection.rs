//! The connection of one editor on `/v1/acp`.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tidings_acp::agent::{AgentCall, AgentNotice, ClientFeatures, initialized, listed};
use tidings_acp::limits::{MESSAGES_WAITING_MAX, SESSIONS_MAX};
use tidings_acp::rpc::{self, Id, Message as RpcMessage, RpcError};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::session::{EditorCommand, EditorSession, OpenMode};
use super::{open, rpc_error};
use crate::api::Api;
use crate::api::stream_lifetime::{StreamLifetime, retry_ms};
use crate::api::ws::close::Close;
use crate::api::ws::link::{Message, WebSocket};
use crate::api::ws::socket::{close_socket, received};
use crate::caller::Caller;
use crate::limits::{HEARTBEAT, HEARTBEATS_MISSED_MAX, WRITE_WAIT};

/// Serves one editor until the connection ends.
pub(super) async fn serve(api: Api, caller: Caller, lifetime: StreamLifetime, socket: WebSocket) {
    let Ok(_permit) = Arc::clone(&api.sockets).try_acquire_owned() else {
        return close_socket(socket, &Close::TooMany).await;
    };
    let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let retry_ms = retry_ms(&api.sessions.config().ids);
    let (lines, written) = mpsc::channel(MESSAGES_WAITING_MAX);
    let mut connection = EditorConnection {
        api,
        caller,
        lifetime,
        socket,
        features: None,
        sessions: HashMap::new(),
        lines,
        heartbeat,
        heartbeats_missed: 0,
        retry_ms,
    };
    let close = connection.run(written).await;
    // Sessions end their tasks when the channel is closed; their agents go on.
    let EditorConnection { socket, .. } = connection;
    close_socket(socket, &close).await;
}

struct EditorConnection {
    api: Api,
    caller: Caller,
    lifetime: StreamLifetime,
    socket: WebSocket,
    /// The editor's abilities, once it has initialized the connection.
    features: Option<ClientFeatures>,
    /// The open sessions, as the editor names them.
    sessions: HashMap<String, mpsc::Sender<EditorCommand>>,
    /// Lines of all sessions to write.
    lines: mpsc::Sender<String>,
    heartbeat: Interval,
    heartbeats_missed: u32,
    retry_ms: u64,
}

impl EditorConnection {
    async fn run(&mut self, mut written: mpsc::Receiver<String>) -> Close {
        loop {
            let step = tokio::select! {
                biased;
                end = self.lifetime.ended() => Err(Close::from_end(end, self.retry_ms)),
                message = self.socket.recv() => match received(message) {
                    Ok(message) => self.receive(message).await,
                    Err(close) => Err(close),
                },
                Some(line) = written.recv() => self.write_all(line, &mut written).await,
                _ = self.heartbeat.tick() => self.send_heartbeat().await,
            };
            if let Err(close) = step {
                return close;
            }
        }
    }

    async fn send_heartbeat(&mut self) -> Result<(), Close> {
        if self.heartbeats_missed >= HEARTBEATS_MISSED_MAX {
            return Err(Close::Gone);
        }
        self.heartbeats_missed += 1;
        let ping = self.socket.send(Message::Ping(axum::body::Bytes::new()));
        match tokio::time::timeout(WRITE_WAIT, ping).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Close::Gone),
            Err(_) => Err(Close::Behind),
        }
    }

    /// Writes a line, and those that are ready too.
    async fn write_all(&mut self, first: String, written: &mut mpsc::Receiver<String>) -> Result<(), Close> {
        let socket = &mut self.socket;
        let writing = async {
            let mut next = Some(first);
            while let Some(line) = next {
                socket.feed(Message::from(line)).await?;
                next = written.try_recv().ok();
            }
            socket.flush().await
        };
        tokio::select! {
            biased;
            done = writing => done.map_err(|_| Close::Gone),
            end = self.lifetime.ended() => Err(Close::from_end(end, self.retry_ms)),
            () = tokio::time::sleep(WRITE_WAIT) => Err(Close::Behind),
        }
    }

    async fn respond(&mut self, id: Option<&Id>, result: &Result<Value, RpcError>) -> Result<(), Close> {
        let line = rpc::response(id, result);
        match tokio::time::timeout(WRITE_WAIT, self.socket.send(Message::from(line))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Close::Gone),
            Err(_) => Err(Close::Behind),
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), Close> {
        self.heartbeats_missed = 0;
        let Message::Text(text) = message else { return Ok(()) };
        match RpcMessage::read(&text) {
            Ok(RpcMessage::Request { id, method, params }) => match AgentCall::read(&method, &params) {
                Ok(call) => self.call(id, call).await,
                Err(error) => self.respond(Some(&id), &Err(error)).await,
            },
            Ok(RpcMessage::Notification { method, params }) => match AgentNotice::read(&method, &params) {
                AgentNotice::Cancel { session } => self.pass(&session, EditorCommand::Cancel),
                AgentNotice::CancelRequest(id) => {
                    let commands: Vec<_> = self.sessions.keys().cloned().collect();
                    commands
                        .iter()
                        .try_for_each(|session| self.pass(session, EditorCommand::CancelRequest(id.clone())))
                }
                AgentNotice::Unknown => Ok(()),
            },
            Ok(RpcMessage::Response { id, result }) => {
                // Ids of ours begin with the session.
                let session = id.text().and_then(|text| Some(text.split_once('/')?.0.to_owned()));
                session.map_or(Ok(()), |session| self.pass(&session, EditorCommand::Answer(id, result)))
            }
            Err(error) => self.respond(None, &Err(error)).await,
        }
    }

    /// Passes a command to a session, if it is open. A queue that is full belongs to an editor that does not
    /// read.
    fn pass(&mut self, session: &str, command: EditorCommand) -> Result<(), Close> {
        if let Some(commands) = self.sessions.get(session)
            && let Err(mpsc::error::TrySendError::Full(_)) = commands.try_send(command)
        {
            return Err(Close::Behind);
        }
        Ok(())
    }

    async fn call(&mut self, id: Id, call: AgentCall) -> Result<(), Close> {
        let Some(features) = self.features.clone() else {
            let AgentCall::Initialize(features) = call else {
                let message = "The connection is not initialized";
                let error = RpcError::new(RpcError::INVALID_REQUEST, message, "send `initialize` first");
                return self.respond(Some(&id), &Err(error)).await;
            };
            self.features = Some(features);
            return self.respond(Some(&id), &Ok(initialized(env!("CARGO_PKG_VERSION")))).await;
        };
        let result = match call {
            AgentCall::Initialize(features) => {
                self.features = Some(features);
                Ok(initialized(env!("CARGO_PKG_VERSION")))
            }
            // The credential of the connection counts; Claude Code has its own login.
            AgentCall::Authenticate { method } => {
                let message = format!("There is no authentication method `{method}`");
                Err(RpcError::new(RpcError::INVALID_PARAMS, message, "run `claude` in a terminal to sign in"))
            }
            AgentCall::Logout => Err(RpcError::no_method("logout")),
            AgentCall::List { cwd, cursor } => {
                let page = open::list(&self.api, &self.caller, cwd.as_deref(), cursor.as_deref()).await;
                page.map(|(sessions, next)| listed(sessions, next)).map_err(|error| rpc_error(&error))
            }
            AgentCall::Delete { session } => {
                let deleted = open::delete(&self.api, &self.caller, &session).await;
                self.sessions.remove(&session);
                deleted.map(|()| json!({})).map_err(|error| rpc_error(&error))
            }
            AgentCall::New(wanted) => match open::create(&self.api, &self.caller, wanted).await {
                Ok(view) => return self.open(id, view.key.clone(), view.key, features, OpenMode::New).await,
                Err(error) => Err(rpc_error(&error)),
            },
            AgentCall::Load(wanted) => {
                let name = wanted.session.clone();
                match open::find(&self.api, &self.caller, wanted).await {
                    Ok(view) => return self.open(id, name, view.key, features, OpenMode::Load).await,
                    Err(error) => Err(rpc_error(&error)),
                }
            }
            AgentCall::Resume(wanted) => {
                let (name, after) = (wanted.session.clone(), wanted.after.clone());
                match open::find(&self.api, &self.caller, wanted).await {
                    Ok(view) => {
                        return self.open(id, name, view.key, features, OpenMode::Resume { after }).await;
                    }
                    Err(error) => Err(rpc_error(&error)),
                }
            }
            AgentCall::Close { session } => {
                return self.for_session(id, &session, EditorCommand::Close).await;
            }
            AgentCall::SetMode { session, mode } => {
                return self.for_session(id, &session, |id| EditorCommand::SetMode { id, mode }).await;
            }
            AgentCall::SetOption { session, option, value } => {
                let command = |id| EditorCommand::SetOption { id, option, value };
                return self.for_session(id, &session, command).await;
            }
            AgentCall::Prompt { session, input } => {
                return self.for_session(id, &session, |id| EditorCommand::Prompt { id, input }).await;
            }
        };
        self.respond(Some(&id), &result).await
    }

    /// Passes a request to an open session, which responds to it.
    async fn for_session(
        &mut self,
        id: Id,
        session: &str,
        command: impl FnOnce(Id) -> EditorCommand,
    ) -> Result<(), Close> {
        self.sessions.retain(|_, commands| !commands.is_closed());
        if !self.sessions.contains_key(session) {
            let message = format!("No session `{session}` is open on this connection");
            let hint = "open it with `session/new`, `session/load` or `session/resume`";
            let error = RpcError::new(RpcError::NOT_FOUND, message, hint);
            return self.respond(Some(&id), &Err(error)).await;
        }
        self.pass(session, command(id))
    }

    /// Starts the task of a session, which responds to the request.
    async fn open(
        &mut self,
        id: Id,
        name: String,
        key: String,
        features: ClientFeatures,
        opening: OpenMode,
    ) -> Result<(), Close> {
        self.sessions.retain(|_, commands| !commands.is_closed());
        if self.sessions.len() >= SESSIONS_MAX && !self.sessions.contains_key(&name) {
            let message = format!("This connection already has {SESSIONS_MAX} sessions open");
            let error = RpcError::new(RpcError::INVALID_REQUEST, message, "close some of them");
            return self.respond(Some(&id), &Err(error)).await;
        }
        let session = EditorSession::attach(
            (self.api.clone(), self.caller.clone()),
            (name.clone(), key),
            features,
            opening,
            self.lines.clone(),
        );
        match session.await {
            Ok(session) => {
                // An earlier task of the same session ends with its channel.
                self.sessions.insert(name, session.start(id));
                Ok(())
            }
            Err(error) => self.respond(Some(&id), &Err(rpc_error(&error))).await,
        }
    }
}
