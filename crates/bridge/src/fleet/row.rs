//! The row of a session as it travels: what clients see of it, and its open requests.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_protocol::api::SessionView;

use crate::journal::{Ask, AskId, Cursor, Epoch, JournalError, Key, ReplicaRow};
use crate::sessions::replica_settings;

/// A session in a unit.
#[derive(Serialize, Deserialize)]
pub(super) struct TravellingRow {
    pub(super) view: SessionView,
    state: String,
    created_us: i64,
    asks: Vec<TravellingAsk>,
}

#[derive(Serialize, Deserialize)]
struct TravellingAsk {
    id: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline_us: Option<i64>,
    opened: u64,
    opened_at_us: i64,
}

impl TravellingRow {
    /// The row without the parts that change with every event: readers know those from the events.
    pub(super) fn new(view: SessionView, state: String, created: Timestamp, asks: &[Ask]) -> Self {
        let (cursor, active) = (String::new(), String::new());
        let view = SessionView { handle: 0, cursor, active, head: 0, floor: 0, ..view };
        let asks = asks.iter().map(TravellingAsk::of).collect();
        TravellingRow { view, state, created_us: created.as_microsecond(), asks }
    }

    pub(super) fn into_replica(
        self,
        node: &str,
        key: &Key,
        epoch: Epoch,
    ) -> Result<ReplicaRow, JournalError> {
        let asks: Result<Vec<Ask>, JournalError> =
            self.asks.into_iter().map(|ask| ask.into_ask(key, epoch)).collect();
        let view = self.view;
        Ok(ReplicaRow {
            cwd: view.cwd.clone(),
            title: view.title.clone(),
            labels: view.labels.clone(),
            state: self.state,
            cli_sessions: view.cli_session_ids.clone(),
            created: Timestamp::from_microsecond(self.created_us).unwrap_or_default(),
            asks: asks?,
            settings: replica_settings(node, view),
        })
    }
}

impl TravellingAsk {
    fn of(ask: &Ask) -> Self {
        TravellingAsk {
            id: ask.id.to_string(),
            kind: ask.kind.clone(),
            digest: ask.digest.clone(),
            body: STANDARD.encode(&ask.body),
            deadline_us: ask.deadline.map(Timestamp::as_microsecond),
            opened: ask.opened.seq,
            opened_at_us: ask.opened_at.as_microsecond(),
        }
    }

    fn into_ask(self, session: &Key, epoch: Epoch) -> Result<Ask, JournalError> {
        let time = |us: i64| Timestamp::from_microsecond(us).unwrap_or_default();
        Ok(Ask {
            session: session.clone(),
            id: AskId::new(&self.id)?,
            kind: self.kind,
            digest: self.digest,
            body: Arc::from(STANDARD.decode(&self.body).unwrap_or_default()),
            deadline: self.deadline_us.map(time),
            opened: Cursor::new(epoch, self.opened),
            opened_at: time(self.opened_at_us),
        })
    }
}
