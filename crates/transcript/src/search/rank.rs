//! The order of sessions by relevance.

use super::{Hit, Role, folded};
use crate::roots::SessionFiles;

/// The hits of one session.
#[derive(Debug)]
#[non_exhaustive]
pub struct SessionHits<'f> {
    /// The session.
    pub session: &'f SessionFiles,
    /// Its hits, in the order of the search.
    pub hits: Vec<Hit<'f>>,
}

/// Groups hits by session, the most relevant session first.
///
/// The order is that of BM25 for one term: each further hit counts less, and hits in a long session count
/// less than in a short one. A text that is repeated counts once. What people wrote counts more than what
/// tools printed. Of equally relevant sessions, the first in the search stays first.
pub fn ranked(hits: Vec<Hit<'_>>) -> Vec<SessionHits<'_>> {
    let mut sessions: Vec<SessionHits<'_>> = Vec::new();
    for hit in hits {
        match sessions.last_mut() {
            Some(last) if last.session.dir() == hit.session.dir() => last.hits.push(hit),
            _ => sessions.push(SessionHits { session: hit.session, hits: vec![hit] }),
        }
    }
    let bytes: f64 = sessions.iter().map(|found| length(found.session)).sum();
    #[expect(clippy::cast_precision_loss, reason = "only the order matters")]
    let average = (bytes / sessions.len().max(1) as f64).max(1.0);
    sessions.sort_by(|a, b| b.score(average).total_cmp(&a.score(average)));
    sessions
}

impl SessionHits<'_> {
    fn score(&self, average: f64) -> f64 {
        /// The usual constants of BM25: the saturation of repeated terms, and the influence of the length.
        const K1: f64 = 1.2;
        const B: f64 = 0.75;
        let weight: f64 = folded(&self.hits).iter().map(|folded| weight(folded.hit.role)).sum();
        weight * (K1 + 1.0) / (weight + K1 * (1.0 - B + B * length(self.session) / average))
    }
}

/// Weight of a hit: prompts, titles and answers say what a session is about.
fn weight(role: Option<Role>) -> f64 {
    match role {
        Some(Role::User) => 3.0,
        Some(Role::Assistant | Role::System) => 2.0,
        Some(Role::Tool) | None => 1.0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "only the order matters")]
fn length(session: &SessionFiles) -> f64 {
    session.files().map(|file| file.bytes).sum::<u64>() as f64
}
