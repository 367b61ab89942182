//! Replicas of other servers' sessions in a journal in memory.

use std::sync::Arc;

use super::state::{RequestRecord, StoreState};
use crate::event::weight;
use crate::limits::MEMORY_BYTES_MAX;
use crate::replica::ReplicaStep;
use crate::{Commit, Cursor, ErrorKind, JournalError, NewSession, Replica, ReplicaRow, Session, SessionName};

impl StoreState {
    pub(super) fn replicate(&mut self, replica: &Replica) -> Result<Session, JournalError> {
        replica.check()?;
        let more: u64 = replica.events.iter().map(|event| weight(event.body.len())).sum();
        if self.bytes() + more > MEMORY_BYTES_MAX as u64 {
            return Err(JournalError::new(ErrorKind::Full, "The journal in memory is full", "retain less"));
        }
        let name = SessionName::Key(replica.key.clone());
        if self.find(&replica.key).is_err() {
            let created = replica.row.as_ref().map(|row| row.created).unwrap_or_default();
            self.create(&NewSession::new(replica.key.clone(), "", created))?;
            self.find_mut(&replica.key)?.row.node = Some(replica.node.clone());
        }
        let record = self.find_mut(&replica.key)?;
        if record.row.node.as_deref() != Some(replica.node.as_str()) {
            return Err(replica.is_of_another());
        }
        let step = replica.step(&record.extent());
        let skip = match step {
            ReplicaStep::Old => return self.session(&name),
            ReplicaStep::Append { skip } => skip,
            ReplicaStep::Restart => 0,
        };
        let is_other = record.row.head.epoch != replica.epoch || step == ReplicaStep::Restart;
        let mut freed = 0;
        if step == ReplicaStep::Restart {
            freed = std::mem::take(&mut record.row.bytes);
            record.events.clear();
            record.client_ids.clear();
            record.asks.clear();
            record.row.floor = replica.first;
            record.row.head.seq = replica.first - 1;
        }
        record.begin_as(replica.epoch);
        record.past.clone_from(&replica.past);
        let mut appended = Vec::new();
        for event in replica.events.iter().skip(skip) {
            let event = Arc::new(event.clone());
            record.row.head = event.cursor;
            record.row.bytes += event.weight();
            record.row.active = record.row.active.max(event.at);
            if let Some(id) = &event.client_id {
                record.client_ids.insert(id.clone(), (event.cursor, event.at));
            }
            record.events.push_back(Arc::clone(&event));
            appended.push(event);
        }
        if let Some(ReplicaRow { cwd, title, labels, settings, state, cli_sessions, created, asks }) =
            &replica.row
        {
            let row = &mut record.row;
            row.cwd.clone_from(cwd);
            row.title.clone_from(title);
            row.labels.clone_from(labels);
            row.settings.clone_from(settings);
            row.state.clone_from(state);
            row.cli_sessions.clone_from(cli_sessions);
            row.created = *created;
            row.active = row.active.max(*created);
            record.asks.clear();
            for ask in asks {
                let opened = Cursor::new(replica.epoch, ask.opened.seq);
                let ask = crate::StoredRequest { opened, ..ask.clone() };
                record.asks.insert(ask.id.clone(), RequestRecord { ask, settled: None });
            }
        }
        self.forget_bytes(freed);
        if is_other {
            self.publish(Commit::Restarted(&replica.key));
        }
        self.publish_events(&replica.key, &appended);
        self.session(&name)
    }
}
