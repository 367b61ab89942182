//! Announces the heads of this server's sessions, and asks other servers for events that are missing here.

use std::collections::{BTreeMap, HashMap};

use tidings_fleet::limits::{HEAD_PAGES, HEADS_EVERY, PAGE_HEADS_MAX};
use tidings_fleet::{HeadPage, Name, SessionHead, page_of};
use tidings_sessions::Sessions;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Fleet;
use super::heads::{self, ComparedHead, IsSame};
use super::server_requests::{MissingEvents, ServerRequest};
use crate::limits::{ANNOUNCE_EVERY, ASK_AFTER, ASKED_SESSIONS, HASH_AFTER, HASHES_AT_ONCE};

/// A page as it was announced last.
#[derive(Default)]
struct AnnouncedPage {
    heads: BTreeMap<String, SessionHead>,
    at: Option<Instant>,
}

/// The last event that is here of a session with missing ones, and the time since which it is the last.
type LastProgress = (Option<(u64, u64)>, Instant);

/// Announces the heads of this server's sessions until it is stopped.
pub(super) async fn announce(fleet: &Fleet, sessions: &Sessions, stop: &CancellationToken) {
    let mut pages: Vec<AnnouncedPage> = (0..HEAD_PAGES).map(|_| AnnouncedPage::default()).collect();
    let mut count = 0;
    let mut has_failed = false;
    while !stop.is_cancelled() {
        if let Err(error) = fleet.0.heads.read_rows(sessions).await {
            tracing::debug!(%error, "failed to read sessions for their heads");
        }
        if !fleet.is_hub() {
            add_hashes(fleet, sessions).await;
            match announce_changed(fleet, &mut pages, &mut count).await {
                Ok(()) => has_failed = false,
                Err(error) => {
                    let is_connected = fleet.status().is_connected;
                    if is_connected && !std::mem::replace(&mut has_failed, true) {
                        tracing::warn!(%error, "other servers do not know how far the sessions of this one go");
                    }
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(ANNOUNCE_EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
}

async fn announce_changed(
    fleet: &Fleet,
    pages: &mut [AnnouncedPage],
    count: &mut u64,
) -> Result<(), tidings_fleet::FleetError> {
    let mut now: Vec<BTreeMap<String, SessionHead>> = vec![BTreeMap::new(); HEAD_PAGES];
    for (session, stored) in fleet.0.heads.own() {
        if let Some(page) = now.get_mut(page_of(&session)).filter(|page| page.len() < PAGE_HEADS_MAX) {
            page.insert(session, stored.head);
        }
    }
    for (number, (heads, before)) in now.into_iter().zip(pages).enumerate() {
        let is_due = before.at.is_none_or(|at| at.elapsed() >= HEADS_EVERY);
        if heads == before.heads && !is_due {
            continue;
        }
        *count += 1;
        let page = HeadPage { started_ms: fleet.0.started.as_millisecond(), count: *count, heads };
        fleet.roster().announce_heads(number, &page).await?;
        *before = AnnouncedPage { heads: page.heads, at: Some(Instant::now()) };
    }
    Ok(())
}

/// Computes the hashes of own sessions that have paused.
async fn add_hashes(fleet: &Fleet, sessions: &Sessions) {
    let journal = sessions.broadcast().journal();
    let own = fleet.0.heads.own().into_iter();
    let paused =
        own.filter(|(_, stored)| stored.head.hash.is_none() && stored.changed.elapsed() >= HASH_AFTER);
    for (session, stored) in paused.take(HASHES_AT_ONCE) {
        match heads::hashed(&**journal, &session, &stored.head).await {
            Ok(Some(head)) => fleet.0.heads.set_hash(&session, &head),
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, session, "failed to read the events of a session"),
        }
    }
}

/// Asks the owners of sessions for events that are missing here, until it is stopped.
pub(super) async fn ask_for_missing(fleet: &Fleet, sessions: &Sessions, stop: &CancellationToken) {
    let mut waiting: HashMap<(Name, String), LastProgress> = HashMap::new();
    while !stop.is_cancelled() {
        let mut behind = Vec::new();
        for member in fleet.roster().members().into_iter().filter(|member| member.node != *fleet.node()) {
            let missing = fleet.missing_of(&member.node).into_iter();
            behind.extend(missing.map(|missing| (member.node.clone(), missing)));
            compare_hashes(fleet, sessions, &member.node).await;
        }
        let is_behind =
            |key: &(Name, String)| behind.iter().any(|(node, it)| (node, &it.session) == (&key.0, &key.1));
        waiting.retain(|key, _| is_behind(key));
        let mut due: HashMap<Name, Vec<MissingEvents>> = HashMap::new();
        for (node, ComparedHead { session, after, .. }) in behind {
            let since = waiting.entry((node.clone(), session.clone())).or_insert((after, Instant::now()));
            if since.0 != after {
                *since = (after, Instant::now());
            }
            if since.1.elapsed() >= ASK_AFTER {
                since.1 = Instant::now();
                due.entry(node).or_default().push(MissingEvents { session, after });
            }
        }
        for (node, mut sessions) in due {
            let is_reachable = fleet.roster().liveness(&node).is_some_and(|alive| alive.is_reachable);
            sessions.truncate(ASKED_SESSIONS);
            if !is_reachable {
                continue;
            }
            tracing::info!(%node, sessions = sessions.len(), "events of another server are asked for again");
            if let Err(error) = fleet.ask(&node, &ServerRequest::PublishAgain { sessions }).await {
                tracing::debug!(%error, %node, "missing events are not published again yet");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(ANNOUNCE_EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
}

/// Compares the hashes that a server has announced with its replicas here.
async fn compare_hashes(fleet: &Fleet, sessions: &Sessions, node: &Name) {
    let journal = sessions.broadcast().journal();
    let open = fleet.0.heads.to_compare(node, fleet.roster().heads_of(node));
    for (session, head) in open.into_iter().take(HASHES_AT_ONCE) {
        match heads::hash_of(&**journal, &session, head.epoch, (head.hash_from.max(1), head.last)).await {
            Ok(hash) if hash == head.hash => fleet.0.heads.set_compared(node, session, head, IsSame::Yes),
            Ok(_) => {
                tracing::error!(%node, session, "the replica of a session has other events than its owner");
                fleet.0.heads.set_compared(node, session, head, IsSame::No);
            }
            Err(error) => tracing::debug!(%error, session, "failed to read the events of a replica"),
        }
    }
}

impl Fleet {
    /// The sessions of another server with events that are not here.
    pub(super) fn missing_of(&self, node: &Name) -> Vec<ComparedHead> {
        heads::compare(&self.0.heads, node, &self.roster().heads_of(node))
    }

    /// Publishes sessions again whose events another server does not have.
    pub(super) fn publish_again(&self, sessions: Vec<MissingEvents>) {
        let Some(replicator) = self.0.replicator.get() else { return };
        for missing in sessions.into_iter().take(ASKED_SESSIONS) {
            if self.0.heads.get(&missing.session).is_some_and(|stored| stored.node.is_none()) {
                replicator.publish_again(&missing.session, missing.after);
            }
        }
    }
}
