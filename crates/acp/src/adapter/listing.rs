//! The past sessions of an agent, as it lists them itself.

use std::path::PathBuf;

use agent_client_protocol_schema::v1 as acp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_protocol::json::Raw;

use super::frames::{has, items, text};
use super::handshake::is_usable_id;
use super::initialize::{InitializeParams, version_problem};
use super::turn_end::error_text;
use crate::limits::{LIST_CURSOR_BYTES_MAX, LIST_PAGES_MAX, LISTED_MAX, LISTED_TEXT_CHARS_MAX};
use crate::rpc::{self, Id, Message, RpcError};

/// Flag of an adapter that makes it list the agent's sessions, with the number that is enough.
pub const LIST_SESSIONS_FLAG: &str = "--list-sessions";

/// Flag of an adapter with the agent's cursor after which the list continues.
pub const LIST_CURSOR_FLAG: &str = "--list-after";

/// Flag of an adapter with the folder to ask for, see [`ListingSettings::folder`].
pub const LIST_FOLDER_FLAG: &str = "--list-folder";

/// Beginning of a cursor in the list of one folder, before the agent's own.
const FOLDER_CURSOR: &str = "folder:";

/// Settings of a listing.
#[derive(Debug, Clone, Default)]
pub struct ListingSettings {
    /// Name of the agent in messages.
    pub name: String,
    /// Method to authenticate with, if the agent needs that.
    pub authenticate: Option<String>,
    /// Cursor after which the list continues.
    pub cursor: Option<String>,
    /// Folder whose sessions are asked for if the agent lists none otherwise: some list those of the folder
    /// that they were started in, unless they are asked for another.
    pub folder: Option<String>,
    /// Sessions that are enough. Pages of the agent are not divided, so there may be more.
    pub limit: usize,
    /// Version of this program.
    pub version: String,
}

/// The answer to a listing: a part of the list, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingResult {
    /// A part of the list.
    Sessions(PastSessions),
    /// The agent cannot list its sessions.
    Unsupported,
    /// The agent failed, for this reason.
    Failed(String),
}

/// A part of an agent's list of its sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSessions {
    /// The sessions, in the order of the agent.
    pub items: Vec<PastSession>,
    /// Cursor of the next part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A past session of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSession {
    /// Its id.
    pub id: String,
    /// Its working folder.
    pub cwd: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Time of its last change, as the agent wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
}

/// Asks an agent for its sessions: a state machine without I/O, which opens no session.
#[derive(Debug)]
pub struct Listing {
    settings: ListingSettings,
    step: Step,
    calls: u64,
    pages: usize,
    /// True if the sessions of one folder are asked for.
    is_in_folder: bool,
    found: PastSessions,
    out: Vec<String>,
    result: Option<ListingResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Initialize,
    Authenticate,
    List,
}

impl Listing {
    /// A listing that begins with the handshake.
    pub fn new(settings: ListingSettings) -> Self {
        let params = InitializeParams::new(&settings.version);
        let mut listing = Listing {
            settings,
            step: Step::Initialize,
            calls: 0,
            pages: 0,
            is_in_folder: false,
            found: PastSessions::default(),
            out: Vec::new(),
            result: None,
        };
        listing.call(Step::Initialize, "initialize", &params);
        listing
    }

    /// Lines for the agent since the last call.
    pub fn lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.out)
    }

    /// The result, once there is one.
    pub fn result(&self) -> Option<&ListingResult> {
        self.result.as_ref()
    }

    /// Takes a line of the agent. What is not a message is ignored, as is everything after the result.
    pub fn from_agent(&mut self, line: &str) {
        if self.result.is_some() {
            return;
        }
        match Message::read(line) {
            Ok(Message::Response { id, result }) if id.as_json() == self.calls.to_string() => {
                let value = |json: &str| Raw::parse(json).ok()?.value().ok();
                self.answered(result.map(|result| value(result.get()).unwrap_or_default()));
            }
            // No session is open, so there is nothing to ask for.
            Ok(Message::Request { id, method, .. }) => {
                self.out.push(rpc::failure(Some(&id), &RpcError::no_method(&method)));
            }
            _ => {}
        }
    }

    /// The agent has ended. `how` completes a sentence about it.
    pub fn agent_ended(&mut self, how: &str) {
        self.fail(&format!("{} ended {how}", self.settings.name));
    }

    /// Ends the listing for a reason, unless it has a result.
    pub fn fail(&mut self, why: &str) {
        let name = &self.settings.name;
        let is_named = why.starts_with(name.as_str());
        let why = if is_named { why.to_owned() } else { format!("{name}: {why}") };
        self.result.get_or_insert(ListingResult::Failed(why));
    }

    fn call(&mut self, step: Step, method: &str, params: &impl Serialize) {
        self.step = step;
        self.calls += 1;
        self.out.push(rpc::request(&Id::of_number(&self.calls.into()), method, params));
    }

    fn answered(&mut self, result: Result<Value, RpcError>) {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) if error.code == RpcError::AUTH_REQUIRED => {
                return self.fail("It needs a login. Log in with its own program");
            }
            Err(error) => return self.fail(&format!("The request failed: {}", error_text(&error))),
        };
        match self.step {
            Step::Initialize => self.initialized(&answer),
            Step::Authenticate => self.list_first(),
            Step::List => self.listed(&answer),
        }
    }

    fn initialized(&mut self, answer: &Value) {
        if let Some(problem) = version_problem(answer) {
            return self.fail(&problem);
        }
        if !has(&answer["agentCapabilities"]["sessionCapabilities"], "list") {
            self.result = Some(ListingResult::Unsupported);
            return;
        }
        match self.settings.authenticate.clone() {
            Some(method) => {
                self.call(Step::Authenticate, "authenticate", &acp::AuthenticateRequest::new(method));
            }
            None => self.list_first(),
        }
    }

    fn list_first(&mut self) {
        let cursor = self.settings.cursor.clone();
        let in_folder = cursor.as_deref().and_then(|cursor| cursor.strip_prefix(FOLDER_CURSOR));
        self.is_in_folder = in_folder.is_some();
        self.list(in_folder.or(cursor.as_deref()));
    }

    fn list(&mut self, cursor: Option<&str>) {
        self.pages += 1;
        let folder = self.settings.folder.as_ref().filter(|_| self.is_in_folder);
        let params =
            acp::ListSessionsRequest::new().cwd(folder.map(PathBuf::from)).cursor(cursor.map(str::to_owned));
        self.call(Step::List, "session/list", &params);
    }

    fn listed(&mut self, answer: &Value) {
        self.found.items.extend(items(answer, "sessions").iter().filter_map(session));
        let next = answer["nextCursor"].as_str();
        let next = next.filter(|next| !next.is_empty() && next.len() <= LIST_CURSOR_BYTES_MAX);
        let is_enough = self.found.items.len() >= self.settings.limit.min(LISTED_MAX);
        match next.map(str::to_owned) {
            Some(next) if !is_enough && self.pages < LIST_PAGES_MAX => self.list(Some(&next)),
            None if self.found.items.is_empty() && self.settings.folder.is_some() && !self.is_in_folder => {
                self.is_in_folder = true;
                self.list(None);
            }
            next => {
                self.found.items.truncate(LISTED_MAX);
                let mark = if self.is_in_folder { FOLDER_CURSOR } else { "" };
                self.found.next = next.map(|next| format!("{mark}{next}"));
                self.result = Some(ListingResult::Sessions(std::mem::take(&mut self.found)));
            }
        }
    }
}

/// A session of the list, if its id can be used.
fn session(listed: &Value) -> Option<PastSession> {
    let (id, cwd) = (text(listed, "sessionId"), text(listed, "cwd"));
    let short = |key: &str| {
        let text = text(listed, key).trim();
        let text: String = text.chars().take(LISTED_TEXT_CHARS_MAX).collect();
        Some(text).filter(|text| !text.is_empty())
    };
    is_usable_id(id).then(|| PastSession {
        id: id.to_owned(),
        cwd: cwd.to_owned(),
        title: short("title"),
        updated: short("updatedAt"),
    })
}
