//! The state machine of the inbox: which items there are, and which notifications are due. It has no clock
//! and no I/O.
//!
//! A notification is due a moment after an item was added, and at each reminder while the item waits. It is
//! held back only if a visible tab has acknowledged this very item shortly before. So each request is either
//! acknowledged as visible or sent, and none is sent twice without a reminder or a retry.

mod outcome;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tidings_api::{DeliveryState, InboxCounts, InboxKind};

pub(crate) use self::outcome::{Outcome, TargetRecord};
use super::item::{Item, Millis, TargetDelivery};
use super::rules::Rules;
use crate::limits::{INBOX_ITEMS_MAX, VISIBLE_FOR};

/// The items of the inbox, and the state of their notifications.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    items: BTreeMap<u64, Item>,
    ids: HashMap<String, u64>,
    position: u64,
    rules: Rules,
    health: BTreeMap<String, TargetRecord>,
    /// Notifications to close, as target and item.
    withdrawals: BTreeSet<(String, String)>,
    unsaved: Unsaved,
}

/// Changes that are not stored yet.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Unsaved {
    /// Positions of items that are new, changed or removed.
    pub(crate) items: BTreeSet<u64>,
    /// Targets whose health has changed.
    pub(crate) health: BTreeSet<String>,
}

/// A target, and the items that it wants.
pub(crate) struct Audience<'a> {
    pub(crate) id: &'a str,
    pub(crate) wants: &'a dyn Fn(&Item) -> bool,
}

/// Something to send now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Notifies of items: of one, or of many in one message.
    Notify { target: String, items: Vec<(String, u32)> },
    /// Closes the notifications of items that are settled.
    Withdraw { target: String, items: Vec<String> },
}

impl Ledger {
    /// Takes over stored items. A notification that was being sent is sent again, since it may not have been.
    pub(crate) fn load(
        &mut self,
        items: impl IntoIterator<Item = Item>,
        health: impl IntoIterator<Item = (String, TargetRecord)>,
    ) {
        for mut item in items {
            for delivery in item.deliveries.values_mut() {
                if delivery.state == DeliveryState::Waiting {
                    delivery.retry_at = delivery.retry_at.or(Some(delivery.at));
                }
            }
            self.position = self.position.max(item.position);
            self.ids.insert(item.id.clone(), item.position);
            self.items.insert(item.position, item);
        }
        self.health.extend(health);
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Sets other rules. Pending requests get the reminders of the new ones.
    pub(crate) fn set_rules(&mut self, rules: Rules, now: Millis) {
        self.rules = rules;
        for item in self.items.values_mut().filter(|item| item.waiting) {
            item.due = self.rules.next_due(item, now).filter(|_| !self.rules.is_off(item));
            self.unsaved.items.insert(item.position);
        }
    }

    /// Adds an item, unless there is one with its id. Returns true if it is new.
    pub(crate) fn add(&mut self, mut item: Item, now: Millis) -> bool {
        if let Some(known) = self.ids.get(&item.id).and_then(|position| self.items.get(position)) {
            // A request that was settled may be made anew, with the same id.
            if known.waiting || !item.waiting || known.at >= item.at {
                return false;
            }
            let position = known.position;
            self.remove(position);
        }
        self.position += 1;
        item.position = self.position;
        item.due = self.rules.next_due(&item, now).filter(|_| !self.rules.is_off(&item));
        self.ids.insert(item.id.clone(), item.position);
        self.unsaved.items.insert(item.position);
        self.items.insert(item.position, item);
        while self.items.len() > INBOX_ITEMS_MAX {
            let Some(oldest) = self.items.values().find(|item| !item.waiting).map(|item| item.position)
            else {
                break;
            };
            self.remove(oldest);
        }
        true
    }

    /// Notes the outcome of a request. Its notifications are closed.
    pub(crate) fn settle(&mut self, id: &str, outcome: &str, now: Millis) -> bool {
        let waits = self.item(id).is_some_and(|item| item.waiting);
        if waits {
            self.end(id, outcome, now);
        }
        waits
    }

    /// Notes that an item is settled.
    pub(crate) fn end(&mut self, id: &str, outcome: &str, now: Millis) {
        let Some(item) = find(&self.ids, &mut self.items, id) else { return };
        item.waiting = false;
        item.unread = false;
        item.outcome = Some((outcome.to_owned(), now));
        self.end_notifications(id);
    }

    /// Marks items as read. Those that wait keep waiting.
    pub(crate) fn read(&mut self, which: impl Fn(&Item) -> bool) -> bool {
        let read: Vec<String> =
            self.items.values().filter(|item| item.unread && which(item)).map(id_of).collect();
        for id in &read {
            let Some(item) = find(&self.ids, &mut self.items, id) else { continue };
            item.unread = false;
            self.unsaved.items.insert(item.position);
            if !item.waiting {
                self.end_notifications(id);
            }
        }
        !read.is_empty()
    }

    /// Notes that a visible tab shows an item. It counts for a while.
    pub(crate) fn visible(&mut self, id: &str, now: Millis) -> bool {
        let Some(item) = find(&self.ids, &mut self.items, id).filter(|item| item.is_news()) else {
            return false;
        };
        item.visible_at = Some(now);
        self.unsaved.items.insert(item.position);
        true
    }

    /// Removes the items of a session that was deleted.
    pub(crate) fn forget_session(&mut self, key: &str) -> bool {
        let of_it = self.items.values().filter(|item| item.session() == Some(key));
        let gone: Vec<(u64, String)> = of_it.map(|item| (item.position, item.id.clone())).collect();
        for (position, id) in &gone {
            self.end_notifications(id);
            self.remove(*position);
        }
        !gone.is_empty()
    }

    /// Forgets a target: what it was sent, and its failures.
    pub(crate) fn forget_target(&mut self, target: &str) {
        for item in self.items.values_mut() {
            if let Some(delivery) = item.deliveries.get_mut(target) {
                delivery.state = DeliveryState::Gone;
                delivery.retry_at = None;
                self.unsaved.items.insert(item.position);
            }
        }
        self.withdrawals.retain(|(of, _)| of != target);
        if self.health.remove(target).is_some() {
            self.unsaved.health.insert(target.to_owned());
        }
    }

    /// Everything that is to be sent now. The caller sends it and reports the [`Outcome`] of each.
    pub(crate) fn due(&mut self, now: Millis, audience: &[Audience<'_>]) -> Vec<Effect> {
        let quiet_until = self.rules.quiet_until(now);
        let mut fresh: BTreeMap<&str, Vec<(String, u32)>> = BTreeMap::new();
        let mut retries = Vec::new();
        for item in self.items.values_mut().filter(|item| item.is_news()) {
            if item.due.is_some_and(|due| due <= now) {
                self.unsaved.items.insert(item.position);
                if self.rules.is_off(item) {
                    item.due = None;
                    continue;
                }
                if let Some(end) = quiet_until {
                    item.due = Some(end);
                    continue;
                }
                let step = item.step;
                item.step += 1;
                item.first_at.get_or_insert(now);
                item.due = self.rules.next_due(item, now);
                if is_visible(item, now) {
                    continue;
                }
                for to in audience {
                    if !(to.wants)(item) {
                        continue;
                    }
                    let mut delivery = TargetDelivery::begun(step, now, item.deliveries.get(to.id));
                    delivery.retry_at = self.health.get(to.id).and_then(|health| health.pause(now));
                    if delivery.retry_at.is_none() {
                        fresh.entry(to.id).or_default().push((item.id.clone(), step));
                    }
                    item.deliveries.insert(to.id.to_owned(), delivery);
                }
            } else if quiet_until.is_none() && !is_visible(item, now) {
                for to in audience {
                    let Some(delivery) = item.deliveries.get_mut(to.id) else { continue };
                    if delivery.retry_at.is_none_or(|at| at > now) {
                        continue;
                    }
                    delivery.retry_at = self.health.get(to.id).and_then(|health| health.pause(now));
                    if delivery.retry_at.is_none() {
                        delivery.state = DeliveryState::Waiting;
                        delivery.at = now;
                        let items = vec![(item.id.clone(), delivery.step)];
                        retries.push(Effect::Notify { target: to.id.to_owned(), items });
                    }
                }
            }
        }
        let many = usize::try_from(self.rules.settings().coalesce_from).unwrap_or(usize::MAX);
        let mut effects = self.take_withdrawals();
        for (target, items) in fresh {
            let target = target.to_owned();
            if items.len() >= many {
                effects.push(Effect::Notify { target, items });
            } else {
                let one = |item| Effect::Notify { target: target.clone(), items: vec![item] };
                effects.extend(items.into_iter().map(one));
            }
        }
        effects.extend(retries);
        effects
    }

    /// The time at which [`Ledger::due`] has something to do.
    pub(crate) fn next_due(&self) -> Option<Millis> {
        if !self.withdrawals.is_empty() {
            return Some(Millis::MIN);
        }
        let news = self.items.values().filter(|item| item.is_news());
        news.flat_map(|item| item.deliveries.values().filter_map(|it| it.retry_at).chain(item.due)).min()
    }

    pub(crate) fn item(&self, id: &str) -> Option<&Item> {
        self.ids.get(id).and_then(|position| self.items.get(position))
    }

    pub(crate) fn item_at(&self, position: u64) -> Option<&Item> {
        self.items.get(&position)
    }

    /// All items, the newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Item> {
        self.items.values().rev()
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The counts of the items that a caller may see.
    pub(crate) fn counts(&self, mut sees: impl FnMut(&Item) -> bool) -> InboxCounts {
        let mut counts = InboxCounts { position: self.position, ..InboxCounts::default() };
        for item in self.items.values().filter(|item| item.waiting || item.unread) {
            if sees(item) {
                counts.waiting += u64::from(item.waiting);
                counts.unread += u64::from(!item.waiting);
            }
        }
        counts.badge = counts.waiting + counts.unread;
        counts
    }

    /// Changes since the last call, to store.
    pub(crate) fn take_unsaved(&mut self) -> Unsaved {
        std::mem::take(&mut self.unsaved)
    }

    /// Takes changes back that could not be stored.
    pub(crate) fn put_back_unsaved(&mut self, unsaved: Unsaved) {
        self.unsaved.items.extend(unsaved.items);
        self.unsaved.health.extend(unsaved.health);
    }

    /// The newest item of a kind in a session.
    pub(crate) fn newest_of(&self, session: Option<&str>, kind: InboxKind) -> Option<&Item> {
        self.newest_first().find(|item| item.kind == kind && item.session() == session)
    }

    fn take_withdrawals(&mut self) -> Vec<Effect> {
        let mut by_target: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (target, item) in std::mem::take(&mut self.withdrawals) {
            by_target.entry(target).or_default().push(item);
        }
        by_target.into_iter().map(|(target, items)| Effect::Withdraw { target, items }).collect()
    }

    /// Ends the retries and reminders of an item, and closes its notifications.
    fn end_notifications(&mut self, id: &str) {
        let Some(item) = find(&self.ids, &mut self.items, id) else { return };
        item.due = None;
        self.unsaved.items.insert(item.position);
        for (target, delivery) in &mut item.deliveries {
            delivery.retry_at = None;
            if delivery.shown {
                self.withdrawals.insert((target.clone(), id.to_owned()));
                delivery.shown = false;
            }
        }
    }

    fn remove(&mut self, position: u64) {
        if let Some(item) = self.items.remove(&position) {
            self.ids.remove(&item.id);
            self.unsaved.items.insert(position);
        }
    }
}

/// True if a visible tab shows the item, as far as is known.
fn is_visible(item: &Item, now: Millis) -> bool {
    let valid = i64::try_from(VISIBLE_FOR.as_millis()).unwrap_or(i64::MAX);
    item.visible_at.is_some_and(|at| now.saturating_sub(at) <= valid)
}

fn find<'a>(
    ids: &HashMap<String, u64>,
    items: &'a mut BTreeMap<u64, Item>,
    id: &str,
) -> Option<&'a mut Item> {
    items.get_mut(ids.get(id)?)
}

fn id_of(item: &Item) -> String {
    item.id.clone()
}
