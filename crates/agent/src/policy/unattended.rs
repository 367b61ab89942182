//! Decisions while no user is connected.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::PermissionLevel;

use super::objections;
use super::simple::declined;
use super::{Decided, DecisionSource, PermissionPolicy, PolicyDecision};
use crate::limits::{DECISION_CACHED, DECISION_REMEMBERED, DECISIONS_CACHED_MAX};
use crate::permissions::{Answer, Ask, CommandKind, Digest, Reach};

/// Actions for a request that was not answered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TimeoutAction {
    /// The tool runs.
    Approve,
    /// The tool does not run.
    #[default]
    Deny,
    /// The request stays open until a user connects.
    Pause,
    /// The risk level decides.
    UseRiskBased,
}

/// Lifetime of a cached decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CacheLifetime {
    /// One hour.
    #[default]
    Hour,
    /// One day, if the user asked to remember it.
    Day,
}

/// A policy that allows harmless calls and denies the rest, unless the user decided about the same call
/// recently.
///
/// ```
/// use jiff::Timestamp;
/// use tidings_agent::permissions::{Answer, Ask, SessionFacts};
/// use tidings_agent::policy::{CacheLifetime, DecisionSource, PermissionPolicy, PolicyDecision};
/// use tidings_agent::policy::{TimeoutAction, Unattended};
/// use tidings_protocol::control::CanUseTool;
///
/// let policy = Unattended::new(TimeoutAction::Deny);
/// let now = Timestamp::UNIX_EPOCH;
/// let call = CanUseTool::new("Bash", serde_json::json!({"command": "make"}).into(), "t");
/// let ask = Ask::new(1, "r", &call, &SessionFacts::in_folder("/home/ada/demo"));
/// assert!(matches!(policy.decide(&ask, now).decision, PolicyDecision::Deny { .. }));
///
/// policy.remember(&ask, &Answer::allow(), CacheLifetime::Hour, now);
/// let decided = policy.decide(&ask, now);
/// assert_eq!(decided.decision, PolicyDecision::Allow);
/// assert_eq!(decided.source, DecisionSource::CachedDecision);
/// ```
#[derive(Debug, Default)]
pub struct Unattended {
    on_timeout: TimeoutAction,
    /// Oldest first.
    cache: Mutex<VecDeque<CachedAnswer>>,
}

#[derive(Debug)]
struct CachedAnswer {
    session_id: i64,
    digest: Digest,
    is_allowed: bool,
    until: Timestamp,
}

impl Unattended {
    /// Creates a policy with an empty cache.
    pub fn new(on_timeout: TimeoutAction) -> Self {
        Unattended { on_timeout, cache: Mutex::default() }
    }

    /// Caches the decision about a call, for calls of the same session with the same input.
    pub fn remember(&self, ask: &Ask, answer: &Answer, lifetime: CacheLifetime, now: Timestamp) {
        let duration = match lifetime {
            CacheLifetime::Hour => DECISION_CACHED,
            CacheLifetime::Day => DECISION_REMEMBERED,
        };
        let duration = SignedDuration::try_from(duration).unwrap_or_default();
        let until = now.saturating_add(duration).unwrap_or(now);
        let (session_id, digest) = (ask.key.session_id, ask.digest);
        let mut cache = self.cache.lock();
        cache.retain(|cached| {
            cached.until > now && (cached.session_id, cached.digest) != (session_id, digest)
        });
        if cache.len() >= DECISIONS_CACHED_MAX {
            cache.pop_front();
        }
        cache.push_back(CachedAnswer { session_id, digest, is_allowed: answer.is_allowed(), until });
    }

    /// The decision about a request that was not answered in time.
    pub fn on_timeout(&self, ask: &Ask, now: Timestamp) -> Decided {
        let decision = match self.on_timeout {
            _ if ask.needs_person && self.on_timeout != TimeoutAction::Pause => declined(),
            TimeoutAction::Approve if objections::of_request(ask).is_none() => PolicyDecision::Allow,
            TimeoutAction::Approve | TimeoutAction::Deny => PolicyDecision::Deny {
                reason: Some("No decision came in time; this is not a refusal".to_owned()),
            },
            TimeoutAction::Pause => PolicyDecision::AskUser,
            TimeoutAction::UseRiskBased => return self.decide(ask, now),
        };
        Decided::new(decision, "timeout", DecisionSource::TimeoutDefault)
    }
}

/// True if a call only reads inside the project, also after symbolic links are followed.
fn only_reads(ask: &Ask) -> bool {
    let reads = match &ask.script {
        Some(script) => {
            !script.is_opaque()
                && script
                    .commands()
                    .iter()
                    .all(|command| command.kind() == CommandKind::Look && command.is_bare())
        }
        None => ask.request.level == PermissionLevel::Read,
    };
    reads && ask.real_reach() == Reach::Folder
}

impl PermissionPolicy for Unattended {
    fn decide(&self, ask: &Ask, now: Timestamp) -> Decided {
        if ask.needs_person {
            return Decided::new(declined(), "unattended", DecisionSource::RiskBased);
        }
        let is_same_call = |cached: &&CachedAnswer| {
            cached.until > now && cached.session_id == ask.key.session_id && cached.digest == ask.digest
        };
        let cached = self.cache.lock().iter().find(is_same_call).map(|cached| cached.is_allowed);
        if cached != Some(false)
            && let Some(objection) = objections::of_request(ask)
        {
            let reason = Some("No user is connected, and no policy may allow this call".to_owned());
            return Decided::new(
                PolicyDecision::Deny { reason },
                objection.name(),
                DecisionSource::RiskBased,
            );
        }
        match (cached, ask.risk) {
            (Some(true), _) => {
                Decided::new(PolicyDecision::Allow, "remembered", DecisionSource::CachedDecision)
            }
            (Some(false), _) => {
                let reason = Some("The user refused the same call before".to_owned());
                Decided::new(PolicyDecision::Deny { reason }, "remembered", DecisionSource::CachedDecision)
            }
            (None, RiskLevel::Low) if only_reads(ask) => {
                Decided::new(PolicyDecision::Allow, "low-risk", DecisionSource::RiskBased)
            }
            (None, RiskLevel::Low) => {
                let reason =
                    Some("No user is connected, and the call does more than read the project".to_owned());
                Decided::new(
                    PolicyDecision::Deny { reason },
                    "does-more-than-look",
                    DecisionSource::RiskBased,
                )
            }
            (None, risk) => {
                let (rule, level) =
                    if risk == RiskLevel::High { ("high-risk", "high") } else { ("medium-risk", "medium") };
                let reason = Some(format!("No user is connected, and the risk is {level}"));
                Decided::new(PolicyDecision::Deny { reason }, rule, DecisionSource::RiskBased)
            }
        }
    }

    fn supports_interaction(&self) -> bool {
        false
    }
}
