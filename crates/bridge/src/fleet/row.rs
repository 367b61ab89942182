//! The row of a session as it travels: what clients see of it, and its open requests.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tidings_api::{Kept, SessionView};
use tidings_journal::{AskId, Cursor, Epoch, JournalError, Key, ReplicaRow, StoredRequest};
use tidings_sessions::replica_settings;

/// A session in a unit.
#[derive(Serialize, Deserialize)]
pub(super) struct TravellingRow {
    view: Kept<SessionView>,
    state: String,
    created_us: i64,
    #[serde(default)]
    asks: Vec<TravellingAsk>,
    /// Parts that a later version has added.
    #[serde(flatten)]
    unknown: Map<String, Value>,
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
    pub(super) fn new(view: SessionView, state: String, created: Timestamp, asks: &[StoredRequest]) -> Self {
        let (cursor, active) = (String::new(), String::new());
        let view = SessionView { handle: 0, cursor, active, head: 0, floor: 0, ..view };
        let asks = asks.iter().map(TravellingAsk::of).collect();
        let created_us = created.as_microsecond();
        TravellingRow { view: view.into(), state, created_us, asks, unknown: Map::new() }
    }

    pub(super) fn into_replica(
        self,
        node: &str,
        key: &Key,
        epoch: Epoch,
    ) -> Result<ReplicaRow, JournalError> {
        let asks: Result<Vec<StoredRequest>, JournalError> =
            self.asks.into_iter().map(|ask| ask.into_ask(key, epoch)).collect();
        let view = &self.view.value;
        Ok(ReplicaRow {
            cwd: view.cwd.clone(),
            title: view.title.clone(),
            labels: view.labels.clone(),
            state: self.state,
            cli_sessions: view.cli_session_ids.clone(),
            created: Timestamp::from_microsecond(self.created_us).unwrap_or_default(),
            asks: asks?,
            settings: replica_settings(node, self.view, self.unknown),
        })
    }
}

impl TravellingAsk {
    fn of(ask: &StoredRequest) -> Self {
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

    fn into_ask(self, session: &Key, epoch: Epoch) -> Result<StoredRequest, JournalError> {
        let time = |us: i64| Timestamp::from_microsecond(us).unwrap_or_default();
        Ok(StoredRequest {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_a_later_version() -> Value {
        let view = json!({
            "handle": 0, "key": "a1", "cwd": "/shop", "state": "resting", "policy": "vote",
            "cli_session_ids": [], "created": "2026-01-01T00:00:00Z", "active": "", "cursor": "", "head": 0,
            "floor": 0, "totals": {"turns": 0, "cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0},
            "budget": {}, "pending_permissions": 0, "pending_questions": 0, "queued": 0, "mood": "calm",
        });
        json!({"view": view, "state": "resting", "created_us": 5, "asks": [], "tide": {"height_m": 2}})
    }

    /// The replica stores what the next version of this server will read.
    #[test]
    fn a_row_of_a_later_version_becomes_a_replica_with_all_its_fields() {
        let row: TravellingRow = serde_json::from_value(of_a_later_version()).unwrap();
        let key = Key::new("a1").unwrap();
        let replica = row.into_replica("two", &key, Epoch::from_random(7)).unwrap();
        let settings: Value = serde_json::from_str(&replica.settings).unwrap();
        let stored = &settings["remote"];
        assert_eq!(stored["view"], of_a_later_version()["view"]);
        assert_eq!(stored["unknown"], json!({"tide": {"height_m": 2}}));
        assert_eq!((replica.state.as_str(), replica.cwd.as_str()), ("resting", "/shop"));
    }
}
