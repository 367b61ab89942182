//! The inbox: what waits for a person, and what happened.

use tidings_api::{InboxCounts, InboxItem, InboxKind, InboxPage, InboxRead};

use crate::error::Error;
use crate::route::Route;
use crate::server::RemoteServer;

/// Items on one page of the server.
const PAGE_ITEMS: u64 = 200;

/// Selection of items of the inbox.
#[derive(Debug, Clone, Default)]
pub struct InboxQuery {
    /// State of the items.
    pub state: InboxState,
    /// Kinds of the items; all if empty.
    pub kinds: Vec<InboxKind>,
    /// Session, by key or number.
    pub session: Option<String>,
    /// Maximum number of items; all without one.
    pub items_max: Option<u64>,
}

/// State of an item of the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InboxState {
    /// It waits for an answer.
    Waiting,
    /// It waits, or was not read.
    #[default]
    Unread,
    /// Any state.
    All,
}

impl RemoteServer {
    /// The inbox: the newest items of a selection, and the counts of the whole inbox.
    pub async fn inbox(&self, query: &InboxQuery) -> Result<(Vec<InboxItem>, InboxCounts), Error> {
        let (mut items, mut before) = (Vec::new(), None);
        loop {
            let InboxPage { items: more, waiting, unread, badge, position, next } =
                self.get(query.route(before).as_str()).await?;
            items.extend(more);
            // A page that does not go on would come again and again.
            before = next.filter(|next| before.is_none_or(|before| *next < before));
            let is_full = query.items_max.is_some_and(|max| items.len() as u64 >= max);
            if before.is_none() || is_full {
                let max = query.items_max.and_then(|max| usize::try_from(max).ok());
                items.truncate(max.unwrap_or(usize::MAX));
                return Ok((items, InboxCounts { waiting, unread, badge, position }));
            }
        }
    }

    /// Marks items as read.
    pub async fn mark_read(&self, read: &InboxRead) -> Result<InboxCounts, Error> {
        self.post("/v1/inbox/read", read).await
    }
}

impl InboxQuery {
    /// All items in a state.
    pub fn new(state: InboxState) -> Self {
        InboxQuery { state, ..InboxQuery::default() }
    }

    fn route(&self, before: Option<u64>) -> Route {
        let state = match self.state {
            InboxState::Waiting => "waiting",
            InboxState::Unread => "unread",
            InboxState::All => "all",
        };
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.as_str()).collect();
        Route::new("/v1/inbox")
            .with("state", Some(state))
            .with("limit", Some(self.items_max.unwrap_or(PAGE_ITEMS).clamp(1, PAGE_ITEMS)))
            .with("kind", (!kinds.is_empty()).then(|| kinds.join(",")))
            .with("session", self.session.as_deref())
            .with("before", before)
    }
}
