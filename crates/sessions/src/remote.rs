//! Sessions that another server of the fleet owns: they are read here and steered there.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tidings_api::{Code, Kept, Notice, Problem, ServerPhase, SessionCapability, SessionView};
use tidings_journal as journal;
use tidings_journal::broadcast::{self, SubscribeOptions};
use tidings_journal::limits::DRAFTS_MAX;
use tidings_journal::{Key, Max, Replica, StoredRequest};
use tidings_protocol::ui::UiMessage;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::active::check_folder;
use super::live_session::Change;
use super::requests::asks::{PendingRequest, pending_request};
use super::running::actor::ActorCommand;
use super::settings::SessionSettings;
use super::{Sessions, view};
use crate::limits::{IMPORTED_BYTES_MAX, REPLICA_EVERY, REPLICA_WAIT};
use crate::{Caller, Error};

/// The way to other servers of the fleet.
pub trait Remote: Send + Sync + fmt::Debug {
    /// Sends a request to a server, and returns its response.
    fn forward(
        &self,
        node: String,
        request: ForwardedRequest,
    ) -> BoxFuture<'_, Result<ForwardedResponse, Error>>;

    /// State of the connection to a server.
    fn state_of(&self, node: &str) -> NodeState;

    /// The number of the last event of a session that its server has announced.
    fn announced(&self, node: &str, session: &str) -> Option<u64>;

    /// The server that continues a session of another one, which may not know it yet.
    fn continued_on(&self, node: &str, session: &str) -> Option<String>;
}

/// State of the connection to another server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// It answers.
    Reachable,
    /// It does not; it was last heard of at this time.
    Unreachable(Option<Timestamp>),
}

/// A request to the owner of a session.
#[derive(Debug, Clone)]
pub struct ForwardedRequest {
    /// The author.
    pub caller: Caller,
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The headers that count there.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// The response of the owner.
#[derive(Debug, Clone)]
pub struct ForwardedResponse {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// Part of the settings of a replica: the session as its owner describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemoteSession {
    pub(crate) node: String,
    pub(crate) view: Kept<SessionView>,
    /// Parts of its row that this version does not know.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) unknown: Map<String, Value>,
}

impl Sessions {
    /// Sets the way to other servers. Only the first call counts.
    pub fn set_remote(&self, remote: Arc<dyn Remote>) {
        drop(self.0.remote.set(remote));
    }

    /// The other server that owns a session, and the session's key. None if this server does.
    pub async fn owner(&self, name: &str) -> Result<Option<(String, Key)>, Error> {
        let row = self.row(name).await?;
        Ok(row.node.map(|node| (node, row.key)))
    }

    /// Sends a request to another server.
    pub async fn forward(&self, node: String, request: ForwardedRequest) -> Result<ForwardedResponse, Error> {
        let remote = self.0.remote.get().ok_or_else(|| not_in_a_fleet(&node))?;
        remote.forward(node, request).await
    }

    /// Runs a command of a session at its owner, if that is another server.
    pub(crate) async fn at_owner<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        name: &str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Option<T>, Error> {
        let Some((node, key)) = self.owner(name).await? else { return Ok(None) };
        let body = serde_json::to_vec(body).map_err(|error| unreadable(&error))?;
        let request = ForwardedRequest {
            caller: caller.clone(),
            method: "POST".to_owned(),
            path: format!("/v1/sessions/{key}/{path}"),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.into(),
        };
        let response = self.forward(node, request).await?;
        if (200..300).contains(&response.status) {
            return serde_json::from_slice(&response.body).map(Some).map_err(|error| unreadable(&error));
        }
        let problem: Problem = serde_json::from_slice(&response.body).map_err(|error| unreadable(&error))?;
        Err(Error::from_problem(problem))
    }

    /// Stores a unit of another server's session, and notifies clients.
    pub async fn replicate(&self, replica: Replica) -> Result<(), Error> {
        let journal = self.broadcast().journal();
        let key = replica.key.clone();
        let changes_row = replica.row.is_some();
        let before =
            if changes_row { journal.asks(Some(&key)).await.unwrap_or_default() } else { Vec::new() };
        let row = journal.replicate(replica).await?;
        if changes_row {
            let after = journal.asks(Some(&key)).await?;
            self.notify(Notice::Session { session: Box::new(self.view(&row)) });
            self.notify_asks(&row, &before, &after);
        }
        Ok(())
    }

    /// Subscribes to a session. A replica may be behind the cursor of a client that comes from another
    /// server: the subscription waits for it then.
    pub(crate) async fn subscribe_behind(
        &self,
        key: &Key,
        watch: SubscribeOptions,
    ) -> Result<broadcast::Subscribed, Error> {
        let deadline = Instant::now() + REPLICA_WAIT;
        loop {
            let subscribed = self.broadcast().subscribe(key, watch).await?;
            if subscribed.session.node.is_none() || subscribed.verdict != journal::CursorVerdict::Reset {
                return Ok(subscribed);
            }
            if Instant::now() >= deadline {
                let is_known = watch.after.is_some_and(|after| after.epoch == subscribed.head.epoch);
                return if is_known { Err(is_behind()) } else { Ok(subscribed) };
            }
            drop(subscribed);
            tokio::time::sleep(REPLICA_EVERY).await;
        }
    }

    /// The number of a session of another server here, once the session has arrived.
    pub async fn replica_handle(&self, key: &str) -> Option<u64> {
        let deadline = Instant::now() + REPLICA_WAIT;
        loop {
            match self.row(key).await {
                Ok(row) => return Some(row.handle.number()),
                Err(_) if Instant::now() >= deadline => return None,
                Err(_) => tokio::time::sleep(REPLICA_EVERY).await,
            }
        }
    }

    /// A replica whose server is lost. Hands all its events to `take`.
    pub async fn lost_session(
        &self,
        caller: &Caller,
        name: &str,
        take: &mut (dyn FnMut(&UiMessage) + Send),
    ) -> Result<LostSession, Error> {
        let row = self.row(name).await?;
        check_folder(caller, &row.cwd)?;
        let view = self.view(&row);
        let (Some(node), true) = (row.node, view.unreachable.is_some()) else {
            let message = "The server of this session is connected";
            return Err(Error::new(Code::Conflict, message, "use the session there, or fork it"));
        };
        let journal = self.broadcast().journal();
        let mut after = None;
        loop {
            let max = Max { events: DRAFTS_MAX, bytes: IMPORTED_BYTES_MAX };
            let page = journal.resume(&row.key, after, max).await?.page;
            let Some(last) = page.events.last() else { break };
            after = Some(last.cursor);
            page.events.iter().filter_map(|event| event.message()).for_each(|event| take(&event));
        }
        Ok(LostSession { key: row.key.to_string(), node, head: row.head, floor: row.floor, view })
    }

    /// The path of a session file of Claude Code.
    pub fn session_file(&self, cwd: &str, id: &str) -> Result<PathBuf, Error> {
        let config_dir = self.config().config_dir(self.config().demo).ok_or_else(|| {
            let message = "The configuration folder of Claude Code is not known";
            Error::new(Code::Conflict, message, "set CLAUDE_CONFIG_DIR for the server")
        })?;
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let folder: String = cwd.chars().map(plain).collect();
        Ok(config_dir.join("projects").join(folder).join(format!("{id}.jsonl")))
    }

    /// Leaves a session to the server that continues it: its agent ends, and it takes no commands.
    pub async fn leave_to(&self, session: &str, node: &str) -> Result<(), Error> {
        let row = match self.row(session).await {
            Ok(row) if row.node.is_none() => row,
            _ => return Ok(()),
        };
        let used = self.active_session(&row.key).await?;
        let settings = used.entry.settings().await;
        if settings.continued_on.is_none() {
            let update = |settings: &mut SessionSettings, _: &_| {
                settings.continued_on = Some(node.to_owned());
                settings.queue.clear();
                Ok(Change::default())
            };
            used.entry.change(update).await?;
            let action = "left the session to another server";
            self.audit_action(&Caller::admin("fleet"), Some(session), action, node).await;
        }
        if used.entry.agent().is_some() {
            let (reply, done) = oneshot::channel();
            drop(used.commands.send(ActorCommand::End(ServerPhase::Stopped, reply)).await);
            drop(done.await);
        }
        Ok(())
    }

    /// Removes a replica, after its owner deleted the session.
    pub async fn remove_replica(&self, node: &str, key: &Key) -> Result<(), Error> {
        let Ok(row) = self.row(key.as_str()).await else { return Ok(()) };
        if row.node.as_deref() != Some(node) {
            return Ok(());
        }
        self.broadcast().journal().delete(key).await?;
        self.notify(Notice::Deleted { key: key.to_string(), handle: view::number(row.handle) });
        Ok(())
    }

    /// Notifies clients that servers became reachable or unreachable.
    pub async fn notify_of_node(&self, node: &str) -> Result<(), Error> {
        let mut after = None;
        loop {
            let rows = self.broadcast().journal().sessions(after, tidings_journal::limits::LIST_MAX).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some(last.handle);
            for row in rows.iter().filter(|row| row.node.as_deref() == Some(node)) {
                self.notify(Notice::Session { session: Box::new(self.view(row)) });
            }
        }
    }

    fn notify_asks(&self, row: &journal::Session, before: &[StoredRequest], after: &[StoredRequest]) {
        let handle = view::number(row.handle);
        let is_in = |asks: &[StoredRequest], ask: &StoredRequest| asks.iter().any(|other| other.id == ask.id);
        for ask in after.iter().filter(|ask| !is_in(before, ask)) {
            match pending_request(ask, handle) {
                Some(PendingRequest::Permission(permission)) => {
                    self.notify(Notice::Permission { permission });
                }
                Some(PendingRequest::Question(question)) => self.notify(Notice::Question { question }),
                None => {}
            }
        }
        for ask in before.iter().filter(|ask| !is_in(after, ask)) {
            let (session, tool_use_id) = (row.key.to_string(), ask.id.to_string());
            self.notify(Notice::Settled { session, tool_use_id, outcome: "answered".to_owned() });
        }
    }

    /// Adds the state of its server to the view of a remote session.
    pub(crate) fn with_reach(&self, view: SessionView) -> SessionView {
        let Some(node) = &view.node else { return view };
        let announced = self.0.remote.get().and_then(|remote| remote.announced(node, &view.key));
        let behind = announced.map(|last| last.saturating_sub(view.head)).filter(|missing| *missing > 0);
        let view = without_terminal(SessionView { behind, ..view });
        let Some(node) = &view.node else { return view };
        let continued = self.0.remote.get().and_then(|remote| remote.continued_on(node, &view.key));
        let continued = continued.map(|other| continued_elsewhere(&other));
        let state = self.0.remote.get().map_or(NodeState::Unreachable(None), |remote| remote.state_of(node));
        let NodeState::Unreachable(heard) = state else {
            return match continued {
                Some(limited) => SessionView { limited: Some(limited), capabilities: Vec::new(), ..view },
                None => view,
            };
        };
        let since = heard.map(|heard| heard.to_string()).unwrap_or_default();
        let limited = match heard {
            Some(heard) => format!("Its server `{node}` is not connected; it was last heard of at {heard}"),
            None => format!("Its server `{node}` is not connected"),
        };
        let limited = Some(continued.unwrap_or(limited));
        SessionView { unreachable: Some(since), limited, capabilities: Vec::new(), ..view }
    }
}

/// A session whose server is lost.
#[derive(Debug)]
pub struct LostSession {
    /// The key of the session.
    pub key: String,
    /// The name of its lost server.
    pub node: String,
    /// The last event of the replica.
    pub head: journal::Cursor,
    /// The number of its first event.
    pub floor: u64,
    /// The session as it was last seen.
    pub view: SessionView,
}

/// The view without the terminal, which only its own server shows.
fn without_terminal(mut view: SessionView) -> SessionView {
    let before = view.capabilities.len();
    view.capabilities.retain(|capability| *capability != SessionCapability::Terminal);
    if view.capabilities.len() < before {
        let reason = "Its terminal is shown by its own server only";
        view.limited = Some(match view.limited {
            Some(limited) => format!("{limited}. {reason}"),
            None => reason.to_owned(),
        });
    }
    view
}

/// The reason for which a session that another server continues offers nothing but reading.
pub(crate) fn continued_elsewhere(node: &str) -> String {
    format!("The server `{node}` continues it")
}

/// The settings of a replica, as JSON for its row.
pub fn replica_settings(node: &str, view: Kept<SessionView>, unknown: Map<String, Value>) -> String {
    let remote = Some(RemoteSession { node: node.to_owned(), view, unknown });
    SessionSettings { remote, ..SessionSettings::default() }.text()
}

/// The error for an action on a session of another server that cannot be forwarded.
pub(crate) fn belongs_to(node: &str) -> Error {
    let message = format!("The session belongs to the server `{node}` of the fleet");
    Error::new(Code::Conflict, message, "do this on that server")
}

/// The error for a command to a session that another server continues.
pub(crate) fn continued_on(node: &str) -> Error {
    let message = format!("The server `{node}` of the fleet continues this session");
    Error::new(Code::Conflict, message, "use it there, or fork it here")
}

fn is_behind() -> Error {
    let message = "This server has not received the session's events up to your cursor";
    Error::new(Code::Unavailable, message, "try again, or use another server of the fleet")
        .retry_after_ms(1000)
}

fn not_in_a_fleet(node: &str) -> Error {
    let message =
        format!("The session belongs to the server `{node}`, and this server is not in its fleet now");
    Error::new(Code::Unavailable, message, "start this server with its fleet, or use that one")
}

fn unreadable(error: &serde_json::Error) -> Error {
    let message = format!("The response of another server cannot be read: {error}");
    Error::new(Code::Internal, message, "it may have another version")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Config;
    use tidings_journal::broadcast::Broadcast;
    use tidings_journal::{Epoch, MemoryJournal, Opening};

    /// A fleet whose servers are reachable, and in which `three` continues every session.
    #[derive(Debug)]
    struct ContinuedByThree;

    impl Remote for ContinuedByThree {
        fn forward(
            &self,
            node: String,
            _: ForwardedRequest,
        ) -> BoxFuture<'_, Result<ForwardedResponse, Error>> {
            Box::pin(async move { Err(belongs_to(&node)) })
        }

        fn state_of(&self, _: &str) -> NodeState {
            NodeState::Reachable
        }

        fn announced(&self, _: &str, _: &str) -> Option<u64> {
            None
        }

        fn continued_on(&self, _: &str, _: &str) -> Option<String> {
            Some("three".to_owned())
        }
    }

    /// Its server is back, and has not sent the row that says so yet.
    #[tokio::test]
    async fn r13_a_session_that_another_server_has_taken_over_offers_nothing_at_once() {
        let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
        let broadcast = Broadcast::new(Arc::new(MemoryJournal::new(&opening)));
        let sessions = Sessions::open(broadcast, Config::default()).await.unwrap();
        sessions.set_remote(Arc::new(ContinuedByThree));
        let view = json!({
            "handle": 1, "key": "a1", "cwd": "/shop", "state": "idle", "policy": "ask", "cli_session_ids": [],
            "created": "2026-01-01T00:00:00Z", "active": "", "cursor": "", "head": 0, "floor": 0,
            "totals": {"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0}, "budget": {},
            "pending_permissions": 0, "pending_questions": 0, "queued": 0, "node": "two",
            "capabilities": ["prompt", "interrupt"],
        });
        let view = sessions.with_reach(serde_json::from_value(view).unwrap());
        assert!(view.capabilities.is_empty(), "{view:?}");
        assert_eq!(view.limited.as_deref(), Some("The server `three` continues it"));
    }

    #[test]
    fn r13_a_terminal_is_offered_by_its_own_server_only() {
        let view = |capabilities: &[&str], limited: Option<&str>| -> SessionView {
            let view = json!({
                "handle": 1, "key": "a1", "cwd": "/shop", "state": "idle", "policy": "ask", "cli_session_ids": [],
                "created": "2026-01-01T00:00:00Z", "active": "", "cursor": "", "head": 0, "floor": 0,
                "totals": {"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0}, "budget": {},
                "pending_permissions": 0, "pending_questions": 0, "queued": 0, "node": "two",
                "capabilities": capabilities, "limited": limited,
            });
            without_terminal(serde_json::from_value(view).unwrap())
        };
        let terminal = view(&["prompt", "terminal"], Some("It runs in a terminal"));
        assert_eq!(terminal.capabilities, [SessionCapability::Prompt]);
        let limited = "It runs in a terminal. Its terminal is shown by its own server only";
        assert_eq!(terminal.limited.as_deref(), Some(limited));
        assert_eq!(view(&["prompt"], None).limited, None);
    }
}
