//! Requests to other servers of the fleet.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tidings_api::Code;
use tidings_fleet::Name;
use tidings_fleet::limits::COMMAND_MAX;
use tidings_sessions::Error;
use tidings_sessions::remote::{ForwardedRequest, ForwardedResponse, NodeState, Remote};

use super::{Fleet, fleet_error, heard};

/// A request between servers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ServerRequest {
    /// A request of a client, for the router of the receiver.
    Http {
        /// The device of the client; none for the admin token of the sender.
        device: Option<String>,
        /// The name of the client, for people.
        name: String,
        method: String,
        path: String,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// A device that was paired with the sender.
    AddDevice { device: serde_json::Value },
    /// A device that was revoked at the sender.
    RevokeDevice { id: String },
    /// A question for the hash of a line of the receiver's audit log.
    AuditHash { number: u64 },
    /// A target of notifications that was added at the sender.
    AddTarget { id: String, target: serde_json::Value },
    /// A target that was removed at the sender.
    RemoveTarget { id: String },
    /// Sessions of the receiver whose last events the sender does not have.
    PublishAgain { sessions: Vec<MissingEvents> },
}

/// A session with events that a server does not have.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MissingEvents {
    pub(super) session: String,
    /// Epoch and number of the last event that it has; none if it has none.
    pub(super) after: Option<(u64, u64)>,
}

/// The reply to it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ServerResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl ServerResponse {
    /// The reply to a request without a result.
    pub(super) fn done() -> Self {
        ServerResponse { status: 204, headers: Vec::new(), body: String::new() }
    }

    /// The problem of a refused request, as the other server words it.
    pub(super) fn problem(&self) -> Option<Error> {
        let body = STANDARD.decode(&self.body).ok()?;
        serde_json::from_slice(&body).ok().map(Error::from_problem)
    }
}

/// The other servers of a fleet.
#[derive(Debug)]
pub(super) struct OtherServers(pub(super) Fleet);

impl Remote for OtherServers {
    fn forward(
        &self,
        node: String,
        request: ForwardedRequest,
    ) -> BoxFuture<'_, Result<ForwardedResponse, Error>> {
        Box::pin(async move {
            let request = ServerRequest::Http {
                device: request.caller.device,
                name: request.caller.name,
                method: request.method,
                path: request.path,
                headers: request.headers,
                body: STANDARD.encode(&request.body),
            };
            let response = self.0.ask(&Name::new(&node).map_err(fleet_error)?, &request).await?;
            let body = STANDARD.decode(&response.body).map_err(|_| unreadable(&node))?;
            Ok(ForwardedResponse { status: response.status, headers: response.headers, body: body.into() })
        })
    }

    fn state_of(&self, node: &str) -> NodeState {
        let Ok(name) = Name::new(node) else { return NodeState::Unreachable(None) };
        match self.0.roster().liveness(&name) {
            Some(alive) if alive.is_reachable => NodeState::Reachable,
            alive => NodeState::Unreachable(alive.as_ref().and_then(heard)),
        }
    }

    fn announced(&self, node: &str, session: &str) -> Option<u64> {
        self.0.roster().head(&Name::new(node).ok()?, session).map(|head| head.last)
    }

    fn continued_on(&self, node: &str, session: &str) -> Option<String> {
        let lease = self.0.roster().lease(session)?;
        (lease.from.as_str() == node && lease.holder != lease.from).then(|| lease.holder.to_string())
    }
}

impl Fleet {
    /// Sends a request to another server.
    pub(super) async fn ask(&self, node: &Name, request: &ServerRequest) -> Result<ServerResponse, Error> {
        let body = serde_json::to_vec(request).map_err(|_| unreadable(node.as_str()))?;
        let reply = self.0.commands.call(node, &body, COMMAND_MAX).await.map_err(fleet_error)?;
        serde_json::from_slice(&reply).map_err(|_| unreadable(node.as_str()))
    }
}

fn unreadable(node: &str) -> Error {
    let message = format!("The response of the server `{node}` cannot be read");
    Error::new(Code::Internal, message, "it may have another version")
}
