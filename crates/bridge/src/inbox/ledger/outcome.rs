//! Outcomes of notifications, and what follows from them for their target.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tidings_api::{DeliveryState, TargetState};

use super::{Ledger, find};
use crate::inbox::item::{ButtonRecord, Item, Millis};
use crate::limits::{
    NOTIFY_BUTTONS_MAX, NOTIFY_PAUSE_FIRST, NOTIFY_PAUSE_MAX, NOTIFY_TARGET_PAUSE_MAX, NOTIFY_TRIES_MAX,
};

/// The outcome of an attempt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The target accepted it.
    Sent,
    /// The request was answered before it was sent.
    Obsolete,
    /// A temporary failure, with the delay that the target requested.
    Failed { error: String, after: Option<Duration> },
    /// The target wants to be left alone for a while.
    Limited { error: String, after: Option<Duration> },
    /// A permanent failure of this notification.
    Refused { error: String },
    /// The target does not exist any more.
    Gone { error: String },
}

/// The results of the notifications to a target so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TargetRecord {
    /// The time of the last accepted notification.
    pub(crate) last_sent: Option<Millis>,
    /// Failures since then.
    pub(crate) failures: u32,
    /// The reason of the last failure.
    pub(crate) error: Option<String>,
    /// The time before which nothing is sent to it.
    pub(crate) retry_at: Option<Millis>,
    /// Accepted notifications.
    #[serde(default)]
    pub(crate) sent: u64,
    /// Failed attempts.
    #[serde(default)]
    pub(crate) failed: u64,
}

impl TargetRecord {
    /// The end of the target's pause, if it is one.
    pub(crate) fn pause(&self, now: Millis) -> Option<Millis> {
        self.retry_at.filter(|at| *at > now)
    }

    pub(crate) fn state(&self) -> TargetState {
        match (self.failures, self.last_sent) {
            (0, None) => TargetState::New,
            (0, Some(_)) => TargetState::Ok,
            _ => TargetState::Failing,
        }
    }

    fn note(&mut self, outcome: &Outcome, now: Millis) {
        match outcome {
            Outcome::Obsolete => {}
            Outcome::Sent => {
                let sent = self.sent + 1;
                *self = TargetRecord {
                    last_sent: Some(now),
                    sent,
                    failed: self.failed,
                    ..TargetRecord::default()
                };
            }
            Outcome::Failed { error, .. }
            | Outcome::Limited { error, .. }
            | Outcome::Refused { error }
            | Outcome::Gone { error } => {
                self.failures = self.failures.saturating_add(1);
                self.failed += 1;
                self.error = Some(error.clone());
            }
        }
        if let Outcome::Limited { after, .. } = outcome {
            let after = after.unwrap_or_else(|| doubled(self.failures)).min(NOTIFY_TARGET_PAUSE_MAX);
            self.retry_at = Some(later(now, after));
        }
    }
}

impl Ledger {
    /// Notes the outcome of a notification.
    pub(crate) fn delivered(
        &mut self,
        target: &str,
        items: &[(String, u32)],
        outcome: &Outcome,
        now: Millis,
    ) {
        let health = self.health.entry(target.to_owned()).or_default();
        health.note(outcome, now);
        self.unsaved.health.insert(target.to_owned());
        let pause = health.pause(now);
        for (id, step) in items {
            let Some(item) = find(&self.ids, &mut self.items, id) else { continue };
            let is_news = item.is_news();
            let Some(delivery) = item.deliveries.get_mut(target) else { continue };
            self.unsaved.items.insert(item.position);
            if *outcome == Outcome::Sent {
                if is_news {
                    delivery.shown = true;
                } else {
                    // It was answered while the notification was under way.
                    self.withdrawals.insert((target.to_owned(), id.clone()));
                }
            }
            // A reminder has begun meanwhile, which has an outcome of its own.
            if delivery.step != *step {
                continue;
            }
            delivery.at = now;
            delivery.retry_at = None;
            match outcome {
                Outcome::Sent => {
                    delivery.state = DeliveryState::Sent;
                    delivery.error = None;
                }
                Outcome::Obsolete => {
                    delivery.state = DeliveryState::Failed;
                    delivery.error = Some("it was answered before it could be sent".to_owned());
                }
                Outcome::Failed { error, after } => {
                    delivery.tries += 1;
                    delivery.error = Some(error.clone());
                    delivery.state = DeliveryState::Failed;
                    if delivery.tries < NOTIFY_TRIES_MAX && is_news {
                        let after = after.unwrap_or_else(|| doubled(delivery.tries)).min(NOTIFY_PAUSE_MAX);
                        delivery.retry_at = Some(later(now, after));
                    }
                }
                Outcome::Limited { error, .. } => {
                    delivery.tries += 1;
                    delivery.error = Some(error.clone());
                    delivery.state = DeliveryState::Failed;
                    delivery.retry_at = pause.filter(|_| is_news);
                }
                Outcome::Refused { error } => {
                    delivery.tries += 1;
                    delivery.state = DeliveryState::Failed;
                    delivery.error = Some(error.clone());
                }
                Outcome::Gone { error } => {
                    delivery.state = DeliveryState::Gone;
                    delivery.error = Some(error.clone());
                }
            }
        }
    }

    /// Notes the outcome of a test, which belongs to no item.
    pub(crate) fn tested(&mut self, target: &str, outcome: &Outcome, now: Millis) {
        self.delivered(target, &[], outcome, now);
    }

    /// Stores a button of a notification that is about to be sent.
    pub(crate) fn add_button(&mut self, target: &str, id: &str, button: ButtonRecord) {
        let Some(item) = find(&self.ids, &mut self.items, id) else { return };
        let Some(delivery) = item.deliveries.get_mut(target) else { return };
        let excess = (delivery.buttons.len() + 1).saturating_sub(NOTIFY_BUTTONS_MAX);
        delivery.buttons.drain(..excess);
        delivery.buttons.push(button);
        self.unsaved.items.insert(item.position);
    }

    /// The button with the fingerprint, with its target and item.
    pub(crate) fn button(&self, fingerprint: &str) -> Option<(&str, &Item, &ButtonRecord)> {
        self.items.values().find_map(|item| {
            item.deliveries.iter().find_map(|(target, delivery)| {
                let button = delivery.buttons.iter().find(|it| it.fingerprint == fingerprint)?;
                Some((target.as_str(), item, button))
            })
        })
    }

    /// Marks the token of a notification as used. Returns false if it was used before, or is not the newest.
    pub(crate) fn use_token(&mut self, target: &str, id: &str, step: u32) -> bool {
        let Some(item) = find(&self.ids, &mut self.items, id).filter(|item| item.waiting) else {
            return false;
        };
        let Some(delivery) = item.deliveries.get_mut(target) else { return false };
        if delivery.step != step || delivery.used == Some(step) || delivery.state == DeliveryState::Gone {
            return false;
        }
        delivery.used = Some(step);
        self.unsaved.items.insert(item.position);
        true
    }

    pub(crate) fn health(&self, target: &str) -> Option<&TargetRecord> {
        self.health.get(target)
    }
}

/// The pause after a number of failures.
fn doubled(failures: u32) -> Duration {
    NOTIFY_PAUSE_FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16))
}

fn later(now: Millis, after: Duration) -> Millis {
    now.saturating_add(i64::try_from(after.as_millis()).unwrap_or(i64::MAX))
}
