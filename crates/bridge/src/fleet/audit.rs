//! Heads of audit logs: each server tells the others how far its log goes, and they notice if it was cut or
//! rewritten.
//!
//! The head is the number and the hash of the last line. It travels with the heartbeat, which the server
//! signs. The hash covers all lines before, so a server that remembers a head can ask for the hash of that
//! line again at any time.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tidings_api::{Code, FleetAudit};
use tidings_fleet::{AuditHead, Name};
use tidings_journal::{AUDIT_START, DocumentChange, Journal, JournalError, verify_audit};
use tidings_sessions::{Error, Sessions};
use tokio_util::sync::CancellationToken;

use super::Fleet;
use super::server_requests::{ServerRequest, ServerResponse};
use crate::limits::AUDIT_HEAD_EVERY;

/// The kind and the id of the document with the heads of other servers.
const DOCUMENT: &str = "fleet";
const HEADS: &str = "audit_heads";

/// The audit log of another server, as this one remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownLog {
    /// The key of the server: another one has another log.
    key: String,
    number: u64,
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// The logs of all servers.
#[derive(Debug, Default)]
pub(super) struct AuditHeads {
    own: parking_lot::Mutex<Option<AuditHead>>,
    others: parking_lot::Mutex<BTreeMap<String, KnownLog>>,
}

impl AuditHeads {
    /// The head of this server's log, for its heartbeat.
    pub(super) fn own(&self) -> Option<AuditHead> {
        self.own.lock().clone()
    }

    /// The log of a server, for people.
    pub(super) fn of(&self, node: &Name, is_this: bool) -> Option<FleetAudit> {
        if is_this {
            return self.own().map(|head| FleetAudit { lines: head.number, problem: None });
        }
        let others = self.others.lock();
        let known = others.get(node.as_str())?;
        Some(FleetAudit { lines: known.number, problem: known.problem.clone() })
    }
}

/// Result of a comparison.
#[derive(Debug, PartialEq, Eq)]
enum Compared {
    /// The log goes on from the head that is known, or is the same.
    Follows,
    /// The hash of the known line must be asked for.
    Ask,
    /// It does not.
    Problem(String),
}

/// Compares a head with the one that is known.
fn compare(known: &KnownLog, head: &AuditHead) -> Compared {
    let before = head.before.as_ref().filter(|(number, _)| *number == known.number);
    if head.number < known.number {
        return Compared::Problem(format!(
            "The audit log has {} lines, and it had {} before: lines are missing",
            head.number, known.number
        ));
    }
    let hash = if head.number == known.number { Some(&head.hash) } else { before.map(|(_, hash)| hash) };
    match hash {
        Some(hash) if *hash == known.hash => Compared::Follows,
        Some(_) => Compared::Problem(rewritten(known.number)),
        None if known.number == 0 => Compared::Follows,
        None => Compared::Ask,
    }
}

fn rewritten(number: u64) -> String {
    format!("Line {number} of the audit log is not the one that it was: the log was rewritten")
}

/// Follows the log of this server until it is stopped.
pub(super) async fn follow_own(fleet: &Fleet, sessions: &Sessions, stop: &CancellationToken) {
    if sessions.config().demo {
        // A demo stores nothing: its log begins anew at each start.
        return;
    }
    let journal = Arc::clone(sessions.broadcast().journal());
    while !stop.is_cancelled() {
        let before = fleet.0.audit.own();
        match next_head(&*journal, before.as_ref()).await {
            Ok(head) => *fleet.0.audit.own.lock() = head.or(before),
            Err(error) => tracing::debug!(%error, "failed to read the audit log for the fleet"),
        }
        tokio::select! {
            () = tokio::time::sleep(AUDIT_HEAD_EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
}

/// The head of a log that has changed. If the line that was the head is gone or another one, the head has no
/// predecessor, and other servers ask for the line.
async fn next_head(
    journal: &dyn Journal,
    before: Option<&AuditHead>,
) -> Result<Option<AuditHead>, JournalError> {
    let (mut number, mut hash) = (0, AUDIT_START.to_owned());
    let mut link = None;
    if let Some(before) = before {
        let lines = journal.audit_log(before.number.saturating_sub(1)).await?;
        let is_same = before.number == 0
            || lines.first().is_some_and(|line| (line.number, &line.hash) == (before.number, &before.hash));
        if is_same {
            (number, hash) = (before.number, before.hash.clone());
            link = Some((before.number, before.hash.clone()));
        } else {
            tracing::warn!(line = before.number, "a line of the audit log is gone or was changed");
        }
    }
    loop {
        let lines = journal.audit_log(number).await?;
        let Some(last) = lines.last() else { break };
        if verify_audit((number, &hash), &lines).is_err() {
            tracing::warn!(after = number, "lines of the audit log do not follow from each other");
            link = None;
        }
        (number, hash) = (last.number, last.hash.clone());
    }
    let is_same = before.is_some_and(|before| (before.number, &before.hash) == (number, &hash));
    Ok((!is_same).then_some(AuditHead { number, hash, before: link }))
}

/// Compares the logs of other servers with their heads until it is stopped.
pub(super) async fn watch_others(fleet: &Fleet, sessions: &Sessions, stop: &CancellationToken) {
    match load(sessions).await {
        Ok(known) => *fleet.0.audit.others.lock() = known,
        Err(error) => tracing::warn!(%error, "failed to read the heads of audit logs"),
    }
    let mut changes = fleet.roster().changes();
    while !stop.is_cancelled() {
        let before = fleet.0.audit.others.lock().clone();
        let is_behind = compare_all(fleet).await;
        let after = fleet.0.audit.others.lock().clone();
        if before != after
            && let Err(error) = save(sessions, &after).await
        {
            tracing::warn!(%error, "failed to store the heads of audit logs");
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = tokio::time::sleep(tidings_fleet::limits::RETRY_MAX), if is_behind => {}
            () = stop.cancelled() => {}
        }
    }
}

/// Takes the heads of all other servers; true if one could not be compared yet.
async fn compare_all(fleet: &Fleet) -> bool {
    let mut is_behind = false;
    let members = fleet.roster().members();
    fleet.0.audit.others.lock().retain(|node, _| members.iter().any(|member| member.node.as_str() == node));
    for member in members.into_iter().filter(|member| member.node != *fleet.node()) {
        let alive = fleet.roster().liveness(&member.node);
        let Some(head) = alive.as_ref().and_then(|alive| alive.beat.audit.clone()) else { continue };
        let key = member.key.to_string();
        let known = fleet.0.audit.others.lock().get(member.node.as_str()).cloned();
        let known = known.filter(|known| known.key == key);
        let result = match &known {
            None => Ok(None),
            // It stays until the server joins with another key.
            Some(known) if known.problem.is_some() => continue,
            Some(known) => problem_of(fleet, &member.node, known, &head).await,
        };
        let log = KnownLog { key, number: head.number, hash: head.hash, problem: None };
        let log = match (result, known) {
            (Ok(Some(problem)), Some(known)) => {
                tracing::warn!(node = %member.node, problem, "the audit log of a server has changed");
                KnownLog { problem: Some(problem), ..known }
            }
            (Ok(_), _) => log,
            (Err(error), _) => {
                tracing::debug!(%error, node = %member.node, "an audit log cannot be compared yet");
                is_behind = true;
                continue;
            }
        };
        fleet.0.audit.others.lock().insert(member.node.to_string(), log);
    }
    is_behind
}

async fn problem_of(
    fleet: &Fleet,
    node: &Name,
    known: &KnownLog,
    head: &AuditHead,
) -> Result<Option<String>, Error> {
    match compare(known, head) {
        Compared::Follows => Ok(None),
        Compared::Problem(problem) => Ok(Some(problem)),
        Compared::Ask => {
            let reply = fleet.ask(node, &ServerRequest::AuditHash { number: known.number }).await?;
            let hash = STANDARD.decode(&reply.body).ok().filter(|_| reply.status == 200);
            if hash.is_none() && reply.status != Code::NotFound.status() {
                return Err(reply
                    .problem()
                    .unwrap_or_else(|| Error::new(Code::Unavailable, "No answer", "")));
            }
            let is_same = hash.is_some_and(|hash| hash == known.hash.as_bytes());
            Ok((!is_same).then(|| rewritten(known.number)))
        }
    }
}

/// The hash of a line, for another server. It reveals nothing of the line.
pub(super) async fn hash_for(sessions: &Sessions, number: u64) -> Result<ServerResponse, Error> {
    let lines = sessions.broadcast().journal().audit_log(number.saturating_sub(1)).await?;
    let line = lines
        .first()
        .filter(|line| line.number == number)
        .ok_or_else(|| Error::new(Code::NotFound, format!("The audit log has no line {number}"), ""))?;
    Ok(ServerResponse { status: 200, headers: Vec::new(), body: STANDARD.encode(&line.hash) })
}

async fn load(sessions: &Sessions) -> Result<BTreeMap<String, KnownLog>, JournalError> {
    let found = sessions.broadcast().journal().documents(DOCUMENT).await?;
    let found = found.into_iter().find(|document| document.id == HEADS);
    Ok(found.and_then(|document| serde_json::from_slice(&document.body).ok()).unwrap_or_default())
}

async fn save(sessions: &Sessions, known: &BTreeMap<String, KnownLog>) -> Result<(), JournalError> {
    let body = serde_json::to_vec(known).unwrap_or_default();
    let change = DocumentChange { kind: DOCUMENT, id: HEADS.to_owned(), body: Some(Arc::from(body)) };
    sessions.broadcast().journal().change_documents(vec![change]).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(number: u64, hash: &str) -> KnownLog {
        KnownLog { key: String::new(), number, hash: hash.to_owned(), problem: None }
    }

    fn head(number: u64, hash: &str, before: Option<(u64, &str)>) -> AuditHead {
        let before = before.map(|(number, hash)| (number, hash.to_owned()));
        AuditHead { number, hash: hash.to_owned(), before }
    }

    #[test]
    fn a_log_that_was_cut_or_rewritten_is_told_from_one_that_grew() {
        let is_problem = |compared| matches!(compared, Compared::Problem(_));
        let log = known(5, "e");
        assert_eq!(compare(&log, &head(5, "e", None)), Compared::Follows);
        assert_eq!(compare(&log, &head(7, "g", Some((5, "e")))), Compared::Follows);
        assert!(is_problem(compare(&log, &head(4, "d", None))), "lines are missing");
        assert!(is_problem(compare(&log, &head(4, "d", Some((3, "c"))))));
        assert!(is_problem(compare(&log, &head(5, "x", Some((4, "d"))))), "the last line is another one");
        assert!(is_problem(compare(&log, &head(7, "g", Some((5, "x"))))));
        // Heads in between were missed, or the server was started again.
        assert_eq!(compare(&log, &head(9, "i", Some((7, "g")))), Compared::Ask);
        assert_eq!(compare(&log, &head(9, "i", None)), Compared::Ask);
        assert_eq!(compare(&known(0, AUDIT_START), &head(2, "b", None)), Compared::Follows);
    }
}
