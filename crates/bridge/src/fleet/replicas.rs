//! Sessions of other servers, as replicas in the journal.

use std::sync::Arc;

use jiff::Timestamp;
use tidings_fleet::{ConsumerCheckpoint, ErrorKind, FleetCall, FleetError, Name, Sink, Unit, UnitEvent};
use tidings_journal::{
    Class, ClientId, Cursor, DocumentChange, Epoch, Event, EventDraft, JournalError, Key, Kind, Replica,
};
use tidings_sessions::Sessions;

use super::own_sessions::local;
use super::row::TravellingRow;

/// The kind and the id of the document with the position in the stream.
const DOCUMENT: &str = "fleet";
const POSITION: &str = "position";

pub(super) struct Replicas {
    sessions: Sessions,
}

impl Replicas {
    pub(super) fn new(sessions: Sessions) -> Self {
        Replicas { sessions }
    }

    async fn store(&self, node: &Name, unit: Unit) -> Result<(), FleetError> {
        let key = Key::new(&unit.session).map_err(|error| invalid(&error))?;
        let stored = if unit.deleted {
            self.sessions.remove_replica(node.as_str(), &key).await
        } else {
            self.sessions.replicate(replica(node, key, unit).map_err(|error| invalid(&error))?).await
        };
        stored.map_err(|error| {
            let is_local = error.code().is_retryable();
            let kind = if is_local { ErrorKind::Local } else { ErrorKind::Refused };
            FleetError::new(kind, error.to_string(), "")
        })
    }
}

impl Sink for Replicas {
    fn apply<'a>(&'a self, node: &'a Name, unit: Unit) -> FleetCall<'a, ()> {
        Box::pin(self.store(node, unit))
    }

    fn save(&self, checkpoint: ConsumerCheckpoint) -> FleetCall<'_, ()> {
        Box::pin(async move {
            let body = serde_json::to_vec(&checkpoint).unwrap_or_default();
            let change =
                DocumentChange { kind: DOCUMENT, id: POSITION.to_owned(), body: Some(Arc::from(body)) };
            self.sessions
                .broadcast()
                .journal()
                .change_documents(vec![change])
                .await
                .map_err(|error| local(&error))
        })
    }

    fn load(&self) -> FleetCall<'_, Option<ConsumerCheckpoint>> {
        Box::pin(async move {
            let found = self
                .sessions
                .broadcast()
                .journal()
                .documents(DOCUMENT)
                .await
                .map_err(|error| local(&error))?;
            let found = found.iter().find(|document| document.id == POSITION);
            Ok(found.and_then(|document| serde_json::from_slice(&document.body).ok()))
        })
    }
}

fn replica(node: &Name, key: Key, unit: Unit) -> Result<Replica, JournalError> {
    let epoch = Epoch::from_random(unit.epoch);
    let row = match unit.row {
        Some(row) => {
            let row: TravellingRow = serde_json::from_slice(&row).map_err(|error| {
                let message = format!("The row of a session cannot be read: {error}");
                JournalError::new(
                    tidings_journal::ErrorKind::Invalid,
                    message,
                    "the node may have another version",
                )
            })?;
            Some(row.into_replica(node.as_str(), &key, epoch)?)
        }
        None => None,
    };
    let events: Result<Vec<Event>, JournalError> = (unit.first..)
        .zip(unit.events)
        .map(|(seq, event)| event_of(event, Cursor::new(epoch, seq)))
        .collect();
    Ok(Replica {
        key,
        node: node.to_string(),
        epoch,
        first: unit.first,
        restart: unit.restart,
        past: unit.past.into_iter().map(|(epoch, last)| (Epoch::from_random(epoch), last)).collect(),
        events: events?,
        row,
    })
}

fn event_of(event: UnitEvent, cursor: Cursor) -> Result<Event, JournalError> {
    let at = Timestamp::from_microsecond(event.at_us).unwrap_or_default();
    let class = if event.durable { Class::Durable } else { Class::Delta };
    let draft = EventDraft::new(class, at, Kind::new(&event.kind)?, event.body.to_vec());
    let client_id = event.client_id.map(ClientId::new).transpose()?;
    Ok(Event::of(&EventDraft { client_id, ..draft }, cursor))
}

fn invalid(error: &JournalError) -> FleetError {
    FleetError::new(ErrorKind::Refused, error.to_string(), error.hint())
}
