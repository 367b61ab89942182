//! Requests and notifications of an editor, decoded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tidings_api::Input;

use super::content;
use crate::meta::meta_of;
use crate::rpc::{self, Id, RpcError};

/// A request of an editor.
#[derive(Debug)]
pub enum AgentCall {
    /// `initialize`, always the first one.
    Initialize(ClientFeatures),
    /// `authenticate` with one of the offered methods.
    Authenticate {
        /// The method.
        method: String,
    },
    /// `logout`.
    Logout,
    /// `session/new`.
    New(OpenSession),
    /// `session/load`: opens a session, and replays it before the response.
    Load(OpenSession),
    /// `session/resume`: opens a session without a replay, or with the updates after a cursor of ours.
    Resume(OpenSession),
    /// `session/list`.
    List {
        /// Only sessions of this folder.
        cwd: Option<String>,
        /// Position from the page before.
        cursor: Option<String>,
    },
    /// `session/close`.
    Close {
        /// The session.
        session: String,
    },
    /// `session/delete`.
    Delete {
        /// The session.
        session: String,
    },
    /// `session/set_mode`.
    SetMode {
        /// The session.
        session: String,
        /// The permission mode.
        mode: String,
    },
    /// `session/set_config_option`.
    SetOption {
        /// The session.
        session: String,
        /// The option.
        option: String,
        /// The value.
        value: String,
    },
    /// `session/prompt`; the response ends the turn.
    Prompt {
        /// The session.
        session: String,
        /// The prompt.
        input: Box<Input>,
    },
}

/// A notification of an editor.
#[derive(Debug, PartialEq, Eq)]
pub enum AgentNotice {
    /// `session/cancel`: ends the turn, and the prompts that wait.
    Cancel {
        /// The session.
        session: String,
    },
    /// `$/cancel_request`: a request needs no response any more.
    CancelRequest(Id),
    /// Any other, which is ignored.
    Unknown,
}

/// Parameters of a session to open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenSession {
    /// The session; empty for a new one.
    pub session: String,
    /// Working folder.
    pub cwd: String,
    /// Additional folders.
    pub add_dirs: Vec<String>,
    /// MCP servers, in the format of the CLI's `--mcp-config`.
    pub mcp_config: Option<Value>,
    /// Our cursor of the last update that the client has.
    pub after: Option<String>,
    /// Idempotency key.
    pub client_id: Option<String>,
}

/// Abilities of an editor that change what it gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of the protocol")]
pub struct ClientFeatures {
    /// Name and version of the editor.
    pub name: Option<String>,
    /// It shows notices.
    pub notices: bool,
    /// It shows compactions.
    pub compaction: bool,
    /// It shows forms.
    pub forms: bool,
    /// It opens web pages for questions.
    pub urls: bool,
    /// It shows output of commands as a terminal, as Zed does.
    pub terminal_output: bool,
}

impl AgentCall {
    /// Reads the parameters of a method. An unknown method is an error.
    pub fn read(method: &str, params: &RawValue) -> Result<AgentCall, RpcError> {
        Ok(match method {
            "initialize" => AgentCall::Initialize(features(decode(method, params)?)),
            "authenticate" => {
                let request: acp::AuthenticateRequest = decode(method, params)?;
                AgentCall::Authenticate { method: request.method_id.to_string() }
            }
            "logout" => AgentCall::Logout,
            "session/new" => AgentCall::New(new_session(method, params)?),
            "session/load" => {
                let request: acp::LoadSessionRequest = decode(method, params)?;
                let (id, dirs) = (request.session_id.to_string(), request.additional_directories);
                AgentCall::Load(open(method, params, id, (&request.cwd, dirs, request.mcp_servers))?)
            }
            "session/resume" => {
                let request: acp::ResumeSessionRequest = decode(method, params)?;
                let (id, dirs) = (request.session_id.to_string(), request.additional_directories);
                AgentCall::Resume(open(method, params, id, (&request.cwd, dirs, request.mcp_servers))?)
            }
            "session/list" => {
                let request: acp::ListSessionsRequest = decode(method, params)?;
                AgentCall::List { cwd: request.cwd.map(|cwd| text(&cwd)), cursor: request.cursor }
            }
            "session/close" => {
                let request: acp::CloseSessionRequest = decode(method, params)?;
                AgentCall::Close { session: request.session_id.to_string() }
            }
            "session/delete" => {
                let request: acp::DeleteSessionRequest = decode(method, params)?;
                AgentCall::Delete { session: request.session_id.to_string() }
            }
            "session/set_mode" => {
                let request: acp::SetSessionModeRequest = decode(method, params)?;
                AgentCall::SetMode {
                    session: request.session_id.to_string(),
                    mode: request.mode_id.to_string(),
                }
            }
            "session/set_config_option" => set_option(method, params)?,
            "session/prompt" => prompt(method, params)?,
            _ => return Err(RpcError::no_method(method)),
        })
    }
}

impl AgentNotice {
    /// Reads a notification. One that does not fit is ignored, since nothing can be answered.
    pub fn read(method: &str, params: &RawValue) -> AgentNotice {
        match method {
            "session/cancel" => decode::<acp::CancelNotification>(method, params)
                .map_or(AgentNotice::Unknown, |cancel| AgentNotice::Cancel {
                    session: cancel.session_id.to_string(),
                }),
            "$/cancel_request" => decode::<acp::CancelRequestNotification>(method, params)
                .ok()
                .and_then(|cancel| serde_json::to_string(&cancel.request_id).ok())
                .and_then(|id| serde_json::from_str::<Value>(&id).ok())
                .map_or(AgentNotice::Unknown, |id| match id {
                    Value::String(text) => AgentNotice::CancelRequest(Id::of_text(&text)),
                    id => AgentNotice::CancelRequest(Id::of_number(&id)),
                }),
            _ => AgentNotice::Unknown,
        }
    }
}

fn decode<T: DeserializeOwned>(method: &str, params: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(params.get()).map_err(|error| RpcError::params(method, error))
}

fn features(request: acp::InitializeRequest) -> ClientFeatures {
    let can = request.client_capabilities;
    let session = can.session.unwrap_or_default();
    let elicitation = can.elicitation.unwrap_or_default();
    let in_meta = |key: &str| can.meta.as_ref().and_then(|meta| meta.get(key)) == Some(&Value::Bool(true));
    ClientFeatures {
        name: request.client_info.map(|info| format!("{} {}", info.title.unwrap_or(info.name), info.version)),
        notices: session.notices.is_some(),
        compaction: session.compaction.is_some(),
        forms: elicitation.form.is_some(),
        urls: elicitation.url.is_some(),
        terminal_output: in_meta("terminal_output"),
    }
}

fn new_session(method: &str, params: &RawValue) -> Result<OpenSession, RpcError> {
    let request: acp::NewSessionRequest = decode(method, params)?;
    let (cwd, dirs) = (request.cwd, request.additional_directories);
    open(method, params, String::new(), (&cwd, dirs, request.mcp_servers))
}

fn open(
    method: &str,
    params: &RawValue,
    session: String,
    (cwd, dirs, servers): (&Path, Vec<PathBuf>, Vec<acp::McpServer>),
) -> Result<OpenSession, RpcError> {
    if !cwd.is_absolute() {
        return Err(RpcError::params(method, "`cwd` is not an absolute path"));
    }
    let params: Value = decode(method, params)?;
    let ours = |key: &str| meta_of(&params, key).and_then(Value::as_str).map(str::to_owned);
    Ok(OpenSession {
        session,
        cwd: text(cwd),
        add_dirs: dirs.iter().map(|folder| text(folder)).collect(),
        mcp_config: mcp_config(servers),
        after: ours("after"),
        client_id: ours("clientId"),
    })
}

/// MCP servers in the format of the CLI.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct McpConfig {
    mcp_servers: BTreeMap<String, McpServer>,
}

/// One of them, with its lists also if they are empty.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum McpServer {
    Stdio { command: String, args: Vec<String>, env: BTreeMap<String, String> },
    Http { url: String, headers: BTreeMap<String, String> },
    Sse { url: String, headers: BTreeMap<String, String> },
}

fn mcp_config(servers: Vec<acp::McpServer>) -> Option<Value> {
    let headers = |headers: Vec<acp::HttpHeader>| {
        headers.into_iter().map(|header| (header.name, header.value)).collect()
    };
    let named = servers.into_iter().filter_map(|server| match server {
        acp::McpServer::Stdio(server) => {
            let env = server.env.into_iter().map(|variable| (variable.name, variable.value)).collect();
            let command = text(&server.command);
            Some((server.name, McpServer::Stdio { command, args: server.args, env }))
        }
        acp::McpServer::Http(server) => {
            Some((server.name, McpServer::Http { url: server.url, headers: headers(server.headers) }))
        }
        acp::McpServer::Sse(server) => {
            Some((server.name, McpServer::Sse { url: server.url, headers: headers(server.headers) }))
        }
        // More kinds may be added; none of them is in our capabilities.
        _ => None,
    });
    let mcp_servers: BTreeMap<_, _> = named.collect();
    (!mcp_servers.is_empty()).then(|| rpc::to_value(&McpConfig { mcp_servers }))
}

fn set_option(method: &str, params: &RawValue) -> Result<AgentCall, RpcError> {
    let request: acp::SetSessionConfigOptionRequest = decode(method, params)?;
    let value = match request.value {
        acp::SessionConfigOptionValue::ValueId { value } => value.to_string(),
        acp::SessionConfigOptionValue::Boolean { value, .. } => value.to_string(),
        _ => return Err(RpcError::params(method, "unknown kind of value")),
    };
    let (session, option) = (request.session_id.to_string(), request.config_id.to_string());
    Ok(AgentCall::SetOption { session, option, value })
}

fn prompt(method: &str, params: &RawValue) -> Result<AgentCall, RpcError> {
    let request: acp::PromptRequest = decode(method, params)?;
    let mut input = content::input(&request.prompt)?;
    let params: Value = decode(method, params)?;
    // Blocks that the crate does not know are dropped by it; a prompt without them would be another prompt.
    let sent = params["prompt"].as_array().map_or(0, Vec::len);
    if sent != request.prompt.len() {
        return Err(RpcError::params(method, "a block of the prompt has an unknown type"));
    }
    input.client_id = meta_of(&params, "clientId").and_then(Value::as_str).map(str::to_owned);
    Ok(AgentCall::Prompt { session: request.session_id.to_string(), input: Box::new(input) })
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
