//! Pending requests of all sessions, as a stream.

use std::collections::{BTreeSet, VecDeque};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use tidings_api::{Notice, PendingPermission, PendingQuestion, PermissionList, QuestionList};

use crate::error::{Error, Retry};
use crate::notices::{NoticeUpdate, Notices};
use crate::server::RemoteServer;

/// Permission requests and questions of all sessions: those that wait now, those that are added, and those
/// that are settled, by whoever does it first.
pub struct RequestStream {
    server: RemoteServer,
    notices: Notices,
    /// The list of requests that is being fetched.
    listing: Option<BoxFuture<'static, Result<Vec<SessionRequest>, Error>>>,
    open: OpenRequests,
}

/// A pending request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SessionRequest {
    /// A tool call that waits for permission.
    Permission(Box<PendingPermission>),
    /// Questions, a plan, or a form.
    Question(Box<PendingQuestion>),
}

/// An update of a [`RequestStream`].
#[derive(Debug)]
#[non_exhaustive]
pub enum RequestUpdate {
    /// A request waits. Each is reported once.
    Opened(SessionRequest),
    /// A request that was reported does not wait any more.
    Settled {
        /// The key of the session.
        session: String,
        /// Id of the request.
        tool_use_id: String,
        /// The outcome, as in the event of the request; absent if it was settled while the connection was
        /// lost.
        outcome: Option<String>,
    },
    /// All requests that wait were reported.
    UpToDate,
    /// The connection was lost, or could not be made. It is made again.
    Lost(Error),
}

/// The requests that were reported and are not settled, and updates that were not returned yet.
#[derive(Debug, Default)]
struct OpenRequests {
    /// Keys of sessions, and ids.
    open: BTreeSet<(String, String)>,
    updates: VecDeque<RequestUpdate>,
}

impl SessionRequest {
    /// The key of the session.
    pub fn session(&self) -> &str {
        match self {
            SessionRequest::Permission(request) => &request.session,
            SessionRequest::Question(request) => &request.session,
        }
    }

    /// Id of the request.
    pub fn tool_use_id(&self) -> &str {
        match self {
            SessionRequest::Permission(request) => &request.tool_use_id,
            SessionRequest::Question(request) => &request.tool_use_id,
        }
    }
}

impl std::fmt::Debug for RequestStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestStream").field("open", &self.open).finish_non_exhaustive()
    }
}

impl RequestStream {
    pub(crate) fn new(server: &RemoteServer) -> Self {
        RequestStream {
            server: server.clone(),
            notices: Notices::new(server),
            listing: None,
            open: OpenRequests::default(),
        }
    }

    /// The next update. Cancel safe.
    ///
    /// Only what no later attempt changes is an error, such as a credential that was revoked.
    pub async fn next(&mut self) -> Result<RequestUpdate, Error> {
        loop {
            if let Some(update) = self.open.updates.pop_front() {
                return Ok(update);
            }
            // Notices wait meanwhile: they are newer than the list, or repeat it.
            if let Some(listing) = &mut self.listing {
                let listed = listing.await;
                self.listing = None;
                match listed {
                    Ok(requests) => {
                        self.notices.succeeded();
                        self.open.list(requests);
                    }
                    Err(error) => {
                        self.notices.reconnect();
                        return if error.retry() == Retry::Never {
                            Err(error)
                        } else {
                            Ok(RequestUpdate::Lost(error))
                        };
                    }
                }
                continue;
            }
            match self.notices.next().await? {
                NoticeUpdate::Subscribed => self.listing = Some(Box::pin(list(self.server.clone()))),
                NoticeUpdate::Lost(error) => return Ok(RequestUpdate::Lost(error)),
                NoticeUpdate::Notice(notice) => self.open.notice(*notice),
            }
        }
    }

    /// The updates as a stream, which ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<RequestUpdate, Error>> + Send {
        futures_util::stream::unfold(Some(self), async |requests| {
            let mut requests = requests?;
            match requests.next().await {
                Ok(update) => Some((Ok(update), Some(requests))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

/// Fetches all requests that wait.
async fn list(server: RemoteServer) -> Result<Vec<SessionRequest>, Error> {
    let permissions: PermissionList = server.get("/v1/permissions").await?;
    let questions: QuestionList = server.get("/v1/questions").await?;
    let permissions = permissions.items.into_iter().map(|item| SessionRequest::Permission(Box::new(item)));
    let questions = questions.items.into_iter().map(|item| SessionRequest::Question(Box::new(item)));
    Ok(permissions.chain(questions).collect())
}

impl OpenRequests {
    /// Takes the list of all requests that wait.
    fn list(&mut self, requests: Vec<SessionRequest>) {
        let listed: BTreeSet<_> = requests.iter().map(name).collect();
        self.settle(|name| !listed.contains(name));
        for request in requests {
            self.add(request);
        }
        self.updates.push_back(RequestUpdate::UpToDate);
    }

    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::Permission { permission } => self.add(SessionRequest::Permission(Box::new(permission))),
            Notice::Question { question } => self.add(SessionRequest::Question(Box::new(question))),
            Notice::Settled { session, tool_use_id, outcome }
                if self.open.remove(&(session.clone(), tool_use_id.clone())) =>
            {
                let outcome = Some(outcome);
                self.updates.push_back(RequestUpdate::Settled { session, tool_use_id, outcome });
            }
            Notice::Deleted { key, .. } => self.settle(|(session, _)| *session == key),
            _ => {}
        }
    }

    fn add(&mut self, request: SessionRequest) {
        if self.open.insert(name(&request)) {
            self.updates.push_back(RequestUpdate::Opened(request));
        }
    }

    /// Settles requests whose outcome is not known.
    fn settle(&mut self, is_settled: impl Fn(&(String, String)) -> bool) {
        let settled: Vec<_> = self.open.iter().filter(|name| is_settled(name)).cloned().collect();
        for name in settled {
            self.open.remove(&name);
            let (session, tool_use_id) = name;
            self.updates.push_back(RequestUpdate::Settled { session, tool_use_id, outcome: None });
        }
    }
}

fn name(request: &SessionRequest) -> (String, String) {
    (request.session().to_owned(), request.tool_use_id().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(session: &str, id: &str) -> SessionRequest {
        let question = json!({
            "session": session, "handle": 1, "tool_use_id": id, "cursor": "1:1", "opened_at": "2026-01-01T00:00:00Z",
            "request": {"questions": []},
            "details": {"session_id": 1, "tool_use_id": id, "kind": "Questions"},
        });
        SessionRequest::Question(serde_json::from_value(question).unwrap())
    }

    fn settled(session: &str, id: &str) -> Notice {
        let (session, tool_use_id) = (session.to_owned(), id.to_owned());
        Notice::Settled { session, tool_use_id, outcome: "allowed".to_owned() }
    }

    fn words(open: &mut OpenRequests) -> Vec<String> {
        let word = |update| match update {
            RequestUpdate::Opened(request) => format!("+{}", request.tool_use_id()),
            RequestUpdate::Settled { tool_use_id, outcome, .. } => {
                format!("-{tool_use_id} {}", outcome.as_deref().unwrap_or("?"))
            }
            RequestUpdate::UpToDate => ".".to_owned(),
            RequestUpdate::Lost(_) => "lost".to_owned(),
        };
        open.updates.drain(..).map(word).collect()
    }

    #[test]
    fn lists_and_notices_report_each_request_once_and_its_end_once() {
        let mut open = OpenRequests::default();
        open.list(vec![request("s", "a"), request("s", "b")]);
        assert_eq!(words(&mut open), ["+a", "+b", "."]);
        open.notice(settled("s", "a"));
        open.notice(settled("s", "a"));
        open.notice(settled("s", "never reported"));
        assert_eq!(words(&mut open), ["-a allowed"]);
        open.list(vec![request("s", "c")]);
        assert_eq!(words(&mut open), ["-b ?", "+c", "."], "after a lost connection");
        open.notice(Notice::Deleted { key: "s".to_owned(), handle: 1 });
        assert_eq!(words(&mut open), ["-c ?"]);
    }
}
