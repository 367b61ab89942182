//! Sessions that another server of the fleet owns: they are read here and steered there.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidings_protocol::api::{Notice, Problem, SessionView};

use super::Sessions;
use super::requests::asks::{PendingRequest, pending_request};
use super::settings::SessionSettings;
use super::view;
use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::journal::{self, Ask, Key, Replica};

/// The way to other servers of the fleet.
pub(crate) trait Remote: Send + Sync + fmt::Debug {
    /// Sends a request to a server, and returns its response.
    fn forward(
        &self,
        node: String,
        request: ForwardedRequest,
    ) -> BoxFuture<'_, Result<ForwardedResponse, Error>>;

    /// State of the connection to a server.
    fn state_of(&self, node: &str) -> NodeState;
}

/// State of the connection to another server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeState {
    /// It answers.
    Reachable,
    /// It does not; it was last heard of at this time.
    Unreachable(Option<Timestamp>),
}

/// A request to the owner of a session.
#[derive(Debug, Clone)]
pub(crate) struct ForwardedRequest {
    pub(crate) caller: Caller,
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// The response of the owner.
#[derive(Debug, Clone)]
pub(crate) struct ForwardedResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// Part of the settings of a replica: the session as its owner describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::sessions) struct RemoteSession {
    pub(in crate::sessions) node: String,
    pub(in crate::sessions) view: SessionView,
}

impl Sessions {
    /// Sets the way to other servers. Only the first call counts.
    pub(crate) fn set_remote(&self, remote: Arc<dyn Remote>) {
        drop(self.0.remote.set(remote));
    }

    /// The other server that owns a session, and the session's key. None if this server does.
    pub(crate) async fn owner(&self, name: &str) -> Result<Option<(String, Key)>, Error> {
        let row = self.row(name).await?;
        Ok(row.node.map(|node| (node, row.key)))
    }

    /// Sends a request to another server.
    pub(crate) async fn forward(
        &self,
        node: String,
        request: ForwardedRequest,
    ) -> Result<ForwardedResponse, Error> {
        let remote = self.0.remote.get().ok_or_else(|| not_in_a_fleet(&node))?;
        remote.forward(node, request).await
    }

    /// Runs a command of a session at its owner, if that is another server.
    pub(in crate::sessions) async fn at_owner<T: DeserializeOwned>(
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
    pub(crate) async fn replicate(&self, replica: Replica) -> Result<(), Error> {
        let journal = self.broadcast().journal();
        let key = replica.key.clone();
        let changes_row = replica.row.is_some();
        let before =
            if changes_row { journal.asks(Some(&key)).await.unwrap_or_default() } else { Vec::new() };
        let row = journal.replicate(replica).await?;
        if changes_row {
            let after = journal.asks(Some(&key)).await?;
            self.notify(Notice::Session { session: self.view(&row) });
            self.notify_asks(&row, &before, &after);
        }
        Ok(())
    }

    /// Removes a replica, after its owner deleted the session.
    pub(crate) async fn remove_replica(&self, node: &str, key: &Key) -> Result<(), Error> {
        let Ok(row) = self.row(key.as_str()).await else { return Ok(()) };
        if row.node.as_deref() != Some(node) {
            return Ok(());
        }
        self.broadcast().journal().delete(key).await?;
        self.notify(Notice::Deleted { key: key.to_string(), handle: view::number(row.handle) });
        Ok(())
    }

    /// Notifies clients that servers became reachable or unreachable.
    pub(crate) async fn notify_of_node(&self, node: &str) -> Result<(), Error> {
        let mut after = None;
        loop {
            let rows = self.broadcast().journal().sessions(after, crate::limits::LIST_MAX).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some(last.handle);
            for row in rows.iter().filter(|row| row.node.as_deref() == Some(node)) {
                self.notify(Notice::Session { session: self.view(row) });
            }
        }
    }

    fn notify_asks(&self, row: &journal::Session, before: &[Ask], after: &[Ask]) {
        let handle = view::number(row.handle);
        let is_in = |asks: &[Ask], ask: &Ask| asks.iter().any(|other| other.id == ask.id);
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
    pub(in crate::sessions) fn with_reach(&self, view: SessionView) -> SessionView {
        let Some(node) = &view.node else { return view };
        let state = self.0.remote.get().map_or(NodeState::Unreachable(None), |remote| remote.state_of(node));
        let NodeState::Unreachable(heard) = state else { return view };
        let since = heard.map(|heard| heard.to_string()).unwrap_or_default();
        let limited = match heard {
            Some(heard) => format!("Its server `{node}` is not connected; it was last heard of at {heard}"),
            None => format!("Its server `{node}` is not connected"),
        };
        SessionView { unreachable: Some(since), limited: Some(limited), capabilities: Vec::new(), ..view }
    }
}

/// The settings of a replica, as JSON for its row.
pub(crate) fn replica_settings(node: &str, view: SessionView) -> String {
    let remote = Some(RemoteSession { node: node.to_owned(), view });
    SessionSettings { remote, ..SessionSettings::default() }.text()
}

/// The error for an action on a session of another server that cannot be forwarded.
pub(in crate::sessions) fn belongs_to(node: &str) -> Error {
    let message = format!("The session belongs to the server `{node}` of the fleet");
    Error::new(Code::Conflict, message, "do this on that server")
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
