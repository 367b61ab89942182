//! What is decided while nobody is connected.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::PermissionLevel;

use super::matching::real_reach;
use super::simple::declined;
use super::{Decided, DecisionSource, PermissionPolicy, PolicyDecision};
use crate::limits::{DECISION_CACHED, DECISION_REMEMBERED, DECISIONS_CACHED_MAX};
use crate::permissions::{Answer, Ask, CommandKind, Digest, Reach};

/// What happens to a question that nobody answered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TimeoutAction {
    /// The tool runs.
    Approve,
    /// It does not.
    #[default]
    Deny,
    /// The question stays open until somebody comes.
    Pause,
    /// The risk decides.
    UseRiskBased,
}

/// For how long a decision is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Keep {
    /// One hour.
    #[default]
    Hour,
    /// A day: somebody asked to remember it.
    Day,
}

/// Lets pass what can do no harm and refuses the rest, unless somebody decided about the very same call lately.
///
/// ```
/// use jiff::Timestamp;
/// use tidings_agent::permissions::{Answer, Ask};
/// use tidings_agent::policy::{DecisionSource, Keep, PermissionPolicy, PolicyDecision, TimeoutAction, Unattended};
/// use tidings_protocol::control::CanUseTool;
///
/// let policy = Unattended::new(TimeoutAction::Deny);
/// let now = Timestamp::UNIX_EPOCH;
/// let ask = Ask::new(1, "r", &CanUseTool::new("Bash", serde_json::json!({"command": "make"}).into(), "t"), None);
/// assert!(matches!(policy.decide(&ask, now).decision, PolicyDecision::Deny { .. }));
///
/// policy.remember(&ask, &Answer::allow(), Keep::Hour, now);
/// let decided = policy.decide(&ask, now);
/// assert_eq!(decided.decision, PolicyDecision::Allow);
/// assert_eq!(decided.source, DecisionSource::CachedDecision);
/// ```
#[derive(Debug, Default)]
pub struct Unattended {
    on_timeout: TimeoutAction,
    /// Oldest first.
    cache: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    session_id: i64,
    digest: Digest,
    is_allowed: bool,
    until: Timestamp,
}

impl Unattended {
    /// A policy without anything remembered.
    pub fn new(on_timeout: TimeoutAction) -> Self {
        Unattended { on_timeout, cache: Mutex::default() }
    }

    /// Remembers what somebody decided about a call, for calls of the same session with the same input.
    pub fn remember(&self, ask: &Ask, answer: &Answer, keep: Keep, now: Timestamp) {
        let duration = match keep {
            Keep::Hour => DECISION_CACHED,
            Keep::Day => DECISION_REMEMBERED,
        };
        let duration = SignedDuration::try_from(duration).unwrap_or_default();
        let until = now.saturating_add(duration).unwrap_or(now);
        let (session_id, digest) = (ask.key.session_id, ask.digest);
        let mut cache = self.lock();
        cache.retain(|kept| kept.until > now && (kept.session_id, kept.digest) != (session_id, digest));
        if cache.len() >= DECISIONS_CACHED_MAX {
            cache.pop_front();
        }
        cache.push_back(Kept { session_id, digest, is_allowed: answer.is_allowed(), until });
    }

    /// What happens to a question that nobody answered in time.
    pub fn on_timeout(&self, ask: &Ask, now: Timestamp) -> Decided {
        let decision = match self.on_timeout {
            _ if ask.needs_person && self.on_timeout != TimeoutAction::Pause => declined(),
            TimeoutAction::Approve => PolicyDecision::Allow,
            TimeoutAction::Deny => PolicyDecision::Deny {
                reason: Some("Nobody answered in time; nobody has refused it".to_owned()),
            },
            TimeoutAction::Pause => PolicyDecision::AskUser,
            TimeoutAction::UseRiskBased => return self.decide(ask, now),
        };
        Decided::new(decision, "timeout", DecisionSource::TimeoutDefault)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a call reads in the project and does nothing else, also after links are followed.
fn only_looks(ask: &Ask) -> bool {
    let looks = match &ask.script {
        Some(script) => {
            !script.is_opaque()
                && script
                    .commands()
                    .iter()
                    .all(|command| command.kind() == CommandKind::Look && command.is_bare())
        }
        None => ask.request.level == PermissionLevel::Read,
    };
    looks && real_reach(ask) == Reach::Folder
}

impl PermissionPolicy for Unattended {
    fn decide(&self, ask: &Ask, now: Timestamp) -> Decided {
        if ask.needs_person {
            return Decided::new(declined(), "unattended", DecisionSource::RiskBased);
        }
        let kept = |kept: &&Kept| {
            kept.until > now && kept.session_id == ask.key.session_id && kept.digest == ask.digest
        };
        let cached = self.lock().iter().find(kept).map(|kept| kept.is_allowed);
        match (cached, ask.risk) {
            (Some(true), _) => {
                Decided::new(PolicyDecision::Allow, "remembered", DecisionSource::CachedDecision)
            }
            (Some(false), _) => {
                let reason = Some("The user has refused the same call before".to_owned());
                Decided::new(PolicyDecision::Deny { reason }, "remembered", DecisionSource::CachedDecision)
            }
            (None, RiskLevel::Low) if only_looks(ask) => {
                Decided::new(PolicyDecision::Allow, "low-risk", DecisionSource::RiskBased)
            }
            (None, RiskLevel::Low) => {
                let reason =
                    Some("Nobody is here to ask, and it does more than look at the project".to_owned());
                Decided::new(
                    PolicyDecision::Deny { reason },
                    "does-more-than-look",
                    DecisionSource::RiskBased,
                )
            }
            (None, risk) => {
                let (rule, words) =
                    if risk == RiskLevel::High { ("high-risk", "high") } else { ("medium-risk", "medium") };
                let reason = Some(format!("Nobody is here to ask, and the risk is {words}"));
                Decided::new(PolicyDecision::Deny { reason }, rule, DecisionSource::RiskBased)
            }
        }
    }

    fn supports_interaction(&self) -> bool {
        false
    }
}
