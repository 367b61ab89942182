//! Changes of the stream that an owner has to notice: it was deleted, replaced, restored from a backup or
//! purged, with or without a loss of the connection.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use futures_util::StreamExt as _;

use super::{CLAIM, Replicator};
use crate::error::FleetError;
use crate::limits::{CALL_MAX, LOOK_EVERY};
use crate::link::bounded;
use crate::names::{events, node_events, session_token};
use crate::storage::StreamSighting;
use crate::unit::{Claim, ENDED, decode};

/// The stream as the owner saw it last, and the number of the connection.
struct LastLook {
    seen: StreamSighting,
    connects: u64,
}

impl Replicator {
    /// Looks at the stream in intervals, and has everything published that it lacks.
    pub(super) async fn watch(&self) {
        let mut before = None;
        loop {
            self.0.link.connected().await;
            match self.look(before.as_ref()).await {
                Ok(now) => before = Some(now),
                Err(error) => tracing::debug!(%error, "failed to look at the stream of the fleet"),
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn look(&self, before: Option<&LastLook>) -> Result<LastLook, FleetError> {
        let connects = self.0.link.connects();
        let stream = self.0.link.stream().await?;
        let seen = StreamSighting::of(stream.cached_info());
        let is_same =
            before.is_some_and(|before| before.connects == connects && seen.continues(&before.seen));
        if !is_same {
            self.begin(&stream, before.map(|before| &before.seen), &seen).await?;
        } else if before.is_some_and(|before| seen.first > before.seen.first) && !seen.has_age_limit {
            self.fill(&stream).await?;
        }
        Ok(LastLook { seen, connects })
    }

    /// Compares every session with the stream once. After each connection, too: a backup may have been
    /// restored meanwhile, and grown since.
    async fn begin(
        &self,
        stream: &Stream,
        before: Option<&StreamSighting>,
        now: &StreamSighting,
    ) -> Result<(), FleetError> {
        let is_same = before.is_some_and(|before| now.continues(before));
        if before.is_some() && !is_same {
            tracing::warn!(
                stream = now.identity,
                "the stream of the fleet is another one: it is filled again"
            );
        }
        let sessions = self.0.source.sessions().await?;
        {
            let mut positions = self.0.positions.lock();
            self.0.stream.fetch_add(1, Ordering::AcqRel);
            positions.clear();
        }
        for session in &sessions {
            self.mark(session);
        }
        self.end_unknown(stream, &sessions).await?;
        if is_same && !now.has_age_limit {
            self.fill(stream).await?;
        }
        Ok(())
    }

    /// Publishes sessions anew whose first messages are not in the stream: a new reader needs them.
    async fn fill(&self, stream: &Stream) -> Result<(), FleetError> {
        let identity = self.0.link.identity();
        for session in self.0.source.sessions().await? {
            let subject = events(&identity.fleet, &identity.node, &session);
            let first = first_of(stream, &subject).await?;
            let first = first.as_ref().and_then(claim_of).map(|claim| claim.first);
            let Some(first) = first else {
                self.0.positions.lock().remove(&session);
                self.mark(&session);
                continue;
            };
            if first == 1 {
                continue;
            }
            let Some(page) = self.0.source.read(&session, None).await? else { continue };
            // Retention of the owner may have taken the first events.
            if first > page.first {
                tracing::info!(session, "a session is published again: its first messages were removed");
                self.go_back(&session, None);
            }
        }
        Ok(())
    }

    /// Publishes the end of sessions that the stream has and this node has not: they were deleted, and a
    /// restored stream has them again.
    async fn end_unknown(&self, stream: &Stream, sessions: &[String]) -> Result<(), FleetError> {
        let doing = "list the sessions in the stream of the fleet";
        let identity = self.0.link.identity();
        let known: HashSet<String> = sessions.iter().map(|session| session_token(session)).collect();
        let filter = node_events(&identity.fleet, &identity.node);
        let found = bounded(doing, CALL_MAX, stream.info_with_subjects(filter)).await?;
        let mut found = found.map_err(|error| FleetError::server(doing, error))?;
        while let Some(subject) = bounded(doing, CALL_MAX, found.next()).await? {
            let (subject, _) = subject.map_err(|error| FleetError::server(doing, error))?;
            let token = subject.rsplit('.').next().unwrap_or_default();
            if known.contains(token) {
                continue;
            }
            let last = bounded(doing, CALL_MAX, stream.get_last_raw_message_by_subject(&subject)).await?;
            let is_ended = last.ok().as_ref().and_then(claim_of).is_some_and(|claim| claim.row == ENDED);
            let first = if is_ended { None } else { first_of(stream, &subject).await? };
            let session = first.and_then(|first| {
                let claim = claim_of(&first)?;
                claim.verify(&identity.fleet, &identity.node, token, &identity.key.public()).ok()?;
                Some(decode(identity, &claim, &first.payload).ok()?.session)
            });
            if let Some(session) = session {
                self.mark(&session);
            }
        }
        Ok(())
    }
}

/// The first message of a subject.
async fn first_of(stream: &Stream, subject: &str) -> Result<Option<StreamMessage>, FleetError> {
    let doing = "read the first event of a session from the fleet";
    let first = stream.raw_message_builder().sequence(1).next_by_subject(subject).send();
    match bounded(doing, CALL_MAX, first).await? {
        Ok(first) => Ok(Some(first)),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(FleetError::server(doing, error)),
    }
}

fn claim_of(message: &StreamMessage) -> Option<Claim> {
    message.headers.get(CLAIM).and_then(|claim| Claim::parse(claim.as_str()))
}
