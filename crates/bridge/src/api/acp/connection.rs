//! The sessions and requests of one editor, over any transport.

use std::collections::HashMap;

use serde_json::{Value, json};
use tidings_acp::agent::{AgentCall, AgentNotice, ClientFeatures, initialized, listed};
use tidings_acp::limits::{MESSAGES_WAITING_MAX, SESSIONS_MAX};
use tidings_acp::lines::id_of_call;
use tidings_acp::rpc::{self, Id, Message, RpcError};
use tidings_sessions::Caller;
use tokio::sync::mpsc;

use super::session::{EditorCommand, EditorSession, OpenMode};
use super::{open, rpc_error};
use crate::api::Api;

/// The editor does not read: the queue of one of its sessions is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Behind;

/// The response to a message, if it is ready at once. Sessions send theirs with their updates.
type Response = Result<Option<String>, Behind>;

/// The connection of one editor.
pub(super) struct EditorConnection {
    api: Api,
    caller: Caller,
    /// The editor's abilities, once it has initialized the connection.
    features: Option<ClientFeatures>,
    /// The open sessions, as the editor names them.
    sessions: HashMap<String, mpsc::Sender<EditorCommand>>,
    /// Lines of all sessions to write.
    lines: mpsc::Sender<String>,
}

impl EditorConnection {
    /// A connection, and the lines of its sessions. Sessions end their tasks when it is dropped; their agents
    /// go on.
    pub(super) fn new(api: Api, caller: Caller) -> (Self, mpsc::Receiver<String>) {
        let (lines, written) = mpsc::channel(MESSAGES_WAITING_MAX);
        (EditorConnection { api, caller, features: None, sessions: HashMap::new(), lines }, written)
    }

    /// Takes a message of the editor.
    pub(super) async fn receive(&mut self, text: &str) -> Response {
        match Message::read(text) {
            Ok(Message::Request { id, method, params }) => match AgentCall::read(&method, &params) {
                Ok(call) => self.call(id, call).await,
                Err(error) => Ok(Some(refused(&id, error))),
            },
            Ok(Message::Notification { method, params }) => match AgentNotice::read(&method, &params) {
                AgentNotice::Cancel { session } => self.pass(&session, EditorCommand::Cancel),
                AgentNotice::CancelRequest(id) => {
                    let commands: Vec<_> = self.sessions.keys().cloned().collect();
                    commands.iter().try_fold(None, |_, session| {
                        self.pass(session, EditorCommand::CancelRequest(id.clone()))
                    })
                }
                AgentNotice::Unknown => Ok(None),
            },
            Ok(Message::Response { id, result }) => {
                // Ids of ours begin with the session.
                let session = id.text().and_then(|text| Some(text.split_once('/')?.0.to_owned()));
                session.map_or(Ok(None), |session| self.pass(&session, EditorCommand::Answer(id, result)))
            }
            Err(error) => Ok(Some(rpc::response(id_of_call(text).as_ref(), &Err(error)))),
        }
    }

    /// Passes a command to a session, if it is open.
    fn pass(&mut self, session: &str, command: EditorCommand) -> Response {
        if let Some(commands) = self.sessions.get(session)
            && let Err(mpsc::error::TrySendError::Full(_)) = commands.try_send(command)
        {
            return Err(Behind);
        }
        Ok(None)
    }

    async fn call(&mut self, id: Id, call: AgentCall) -> Response {
        let Some(features) = self.features.clone() else {
            let AgentCall::Initialize(features) = call else {
                let message = "The connection is not initialized";
                let error = RpcError::new(RpcError::INVALID_REQUEST, message, "send `initialize` first");
                return Ok(Some(refused(&id, error)));
            };
            self.features = Some(features);
            return Ok(Some(responded(&id, &Ok(initialized(env!("CARGO_PKG_VERSION"))))));
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
                if deleted.is_ok() {
                    self.sessions.remove(&session);
                }
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
                return self.for_session(id, &session, EditorCommand::Close);
            }
            AgentCall::SetMode { session, mode } => {
                return self.for_session(id, &session, |id| EditorCommand::SetMode { id, mode });
            }
            AgentCall::SetOption { session, option, value } => {
                let command = |id| EditorCommand::SetOption { id, option, value };
                return self.for_session(id, &session, command);
            }
            AgentCall::Prompt { session, input } => {
                return self.for_session(id, &session, |id| EditorCommand::Prompt { id, input });
            }
        };
        Ok(Some(responded(&id, &result)))
    }

    /// Passes a request to an open session, which responds to it.
    fn for_session(&mut self, id: Id, session: &str, command: impl FnOnce(Id) -> EditorCommand) -> Response {
        self.sessions.retain(|_, commands| !commands.is_closed());
        if !self.sessions.contains_key(session) {
            let message = format!("No session `{session}` is open on this connection");
            let hint = "open it with `session/new`, `session/load` or `session/resume`";
            let error = RpcError::new(RpcError::NOT_FOUND, message, hint);
            return Ok(Some(refused(&id, error)));
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
    ) -> Response {
        self.sessions.retain(|_, commands| !commands.is_closed());
        if self.sessions.len() >= SESSIONS_MAX && !self.sessions.contains_key(&name) {
            let message = format!("This connection already has {SESSIONS_MAX} sessions open");
            let error = RpcError::new(RpcError::INVALID_REQUEST, message, "close some of them");
            return Ok(Some(refused(&id, error)));
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
                Ok(None)
            }
            Err(error) => Ok(Some(refused(&id, rpc_error(&error)))),
        }
    }
}

fn responded(id: &Id, result: &Result<Value, RpcError>) -> String {
    rpc::response(Some(id), result)
}

fn refused(id: &Id, error: RpcError) -> String {
    responded(id, &Err(error))
}
