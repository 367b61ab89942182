//! Sends the notifications that are due, and notes their outcomes.

use std::sync::Arc;
use std::time::Duration;

use tidings_api::{PushActions, PushMessage, Scope};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::attempt::{Attempt, FailureKind};
use super::channel::{Channel, Via, device_target};
use super::compose::{
    BUTTON_SCOPE, SUMMARY, decisions, detail_line, push_message, push_summary, shown_content,
};
use super::content::Space;
use super::url_target::Buttons;
use super::web_push::{PushEndpoint, PushSender, Urgency};
use super::{Notifications, token};
use crate::auth::Auth;
use crate::inbox::{Audience, Effect, Item, Outcome};

/// The longest sleep, so that a clock that was set, or a machine that slept, delays nothing for long.
const SLEEP_MAX: Duration = Duration::from_secs(30);

/// Failures after which a device no longer counts as reachable.
const UNREACHABLE_FROM: u32 = 3;

impl Notifications {
    /// Follows the sessions and sends notifications until the server stops. What is not sent then is sent
    /// after the next start.
    pub(crate) async fn run(self, auth: Option<Auth>, stopping: CancellationToken) {
        if let Err(error) = self.load().await {
            tracing::warn!(%error, "failed to read the targets of notifications");
        }
        let mut revoked = auth.as_ref().map(|auth| auth.revoked().subscribe());
        if let Some(auth) = &auth {
            self.keep_devices(auth).await;
        }
        let mut tasks = JoinSet::new();
        let inbox = self.inbox().clone();
        let (watching, telling) = (inbox.clone(), inbox.clone());
        let watch_stop = stopping.clone();
        tasks.spawn(async move { watching.watch(watch_stop).await });
        tasks.spawn(async move { telling.tell_clients().await });
        loop {
            self.note_reachable();
            for effect in self.due() {
                let this = self.clone();
                tasks.spawn(async move { this.perform(effect).await });
            }
            inbox.flush().await;
            let pause = async {
                match inbox.with(crate::inbox::Ledger::next_due) {
                    Some(due) => {
                        let left = u64::try_from(due.saturating_sub(inbox.now())).unwrap_or(0);
                        tokio::time::sleep(Duration::from_millis(left).min(SLEEP_MAX)).await;
                    }
                    None => std::future::pending().await,
                }
            };
            let gone = async {
                match &mut revoked {
                    Some(revoked) => revoked.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stopping.cancelled() => break,
                () = inbox.woken() => {}
                () = pause => {}
                gone = gone => match gone {
                    Ok(device) => self.remove_device(&device).await,
                    Err(RecvError::Lagged(_)) => {
                        if let Some(auth) = &auth {
                            self.keep_devices(auth).await;
                        }
                    }
                    Err(RecvError::Closed) => revoked = None,
                },
                Some(ended) = tasks.join_next() => drop(ended),
            }
        }
        tasks.shutdown().await;
    }

    /// The notifications that are due, those of many items split for targets that want each.
    fn due(&self) -> Vec<Effect> {
        let channels: Vec<Arc<Channel>> = self.channels().values().cloned().collect();
        let wants: Vec<_> = channels.iter().map(|channel| |item: &Item| channel.wants(item)).collect();
        let audience: Vec<Audience<'_>> = channels
            .iter()
            .zip(&wants)
            .map(|(channel, wants)| Audience { id: channel.id.as_str(), wants })
            .collect();
        let mut effects = Vec::new();
        for effect in self.inbox().due(&audience) {
            match effect {
                Effect::Notify { target, items } if items.len() > 1 && self.wants_each(&target) => {
                    let one = |item| Effect::Notify { target: target.clone(), items: vec![item] };
                    effects.extend(items.into_iter().map(one));
                }
                effect => effects.push(effect),
            }
        }
        effects
    }

    fn wants_each(&self, target: &str) -> bool {
        self.channel(target).is_some_and(|channel| match &channel.via {
            Via::Url(target) => target.wants_each(),
            Via::Push(_) => false,
        })
    }

    async fn perform(&self, effect: Effect) {
        // The semaphore is never closed.
        let Ok(_permit) = self.0.sending.acquire().await else { return };
        match effect {
            Effect::Withdraw { target, items } => self.withdraw(&target, items).await,
            Effect::Notify { target, items } => {
                let attempt = self.notify(&target, &items).await;
                if let Attempt::Failed { error, .. } = &attempt {
                    let at = self.channel(&target).map(|channel| channel.log_name());
                    tracing::warn!(at, error, "a notification failed");
                }
                let outcome = attempt.outcome();
                let is_gone = matches!(outcome, Outcome::Gone { .. });
                self.inbox().change(|ledger, now| ledger.delivered(&target, &items, &outcome, now)).await;
                if is_gone {
                    self.remove_gone(&target).await;
                }
            }
        }
    }

    async fn notify(&self, target: &str, items: &[(String, u32)]) -> Attempt {
        let Some(channel) = self.channel(target) else {
            return Attempt::failed(FailureKind::Gone, "the target was removed");
        };
        let current: Vec<(Item, u32)> = self.inbox().with(|ledger| {
            let item = |(id, step): &(String, u32)| Some((ledger.item(id)?.clone(), *step));
            items.iter().filter_map(item).filter(|(item, _)| item.is_news()).collect()
        });
        if current.is_empty() {
            return Attempt::Obsolete;
        }
        match &channel.via {
            Via::Url(to) => to.send(&current, self.inbox(), &self.buttons(target)).await,
            Via::Push(subscription) => self.push(subscription, &current).await,
        }
    }

    /// Sends items to the browser of a device.
    async fn push(&self, to: &PushEndpoint, items: &[(Item, u32)]) -> Attempt {
        let Some(push) = &self.0.push else {
            return Attempt::failed(FailureKind::Refused, "this server does not send messages to browsers");
        };
        let badge = self.inbox().counts(&to.caller()).badge;
        let message = match items {
            [(item, step)] => {
                let may_decide = to.scopes.has(BUTTON_SCOPE);
                let has_details = self.inbox().with(|ledger| ledger.rules().settings().details);
                let space = Some(Space::BROWSER).filter(|_| may_decide && has_details);
                let content = shown_content(item, space, self.inbox().sessions()).await;
                let decisions = if may_decide { decisions(item, content.as_deref()) } else { Vec::new() };
                let token = push.keys().action_token().filter(|_| !decisions.is_empty());
                if let Some(token) = &token {
                    let target = device_target(&to.device);
                    token::store(self.inbox(), token, &target, (item, *step), &decisions).await;
                }
                let actions = token.map(|token| PushActions { token, decisions });
                let detail = content.or_else(|| detail_line(item)).filter(|_| has_details);
                push_message(item, *step, badge, detail, actions)
            }
            items => push_summary(items, badge),
        };
        let urgency =
            if items.iter().any(|(item, _)| item.waiting) { Urgency::High } else { Urgency::Normal };
        push.send(to, &message, urgency, self.page(), self.inbox().now()).await
    }

    /// Closes notifications on a device. A failure is not retried: the page shows that nothing waits.
    async fn withdraw(&self, target: &str, mut items: Vec<String>) {
        let Some(channel) = self.channel(target) else { return };
        let (Via::Push(to), Some(push)) = (&channel.via, &self.0.push) else { return };
        let badge = self.inbox().counts(&to.caller()).badge;
        let id = items.first().cloned().unwrap_or_default();
        if badge == 0 {
            items.push(SUMMARY.to_owned());
        }
        let message = PushMessage::Withdraw { v: 1, id, tags: items, badge };
        let sent = push.send(to, &message, Urgency::Normal, self.page(), self.inbox().now()).await;
        if let Attempt::Failed { kind, error, .. } = sent {
            tracing::debug!(at = channel.log_name(), error, "a withdrawal failed");
            if kind == FailureKind::Gone {
                self.remove_gone(target).await;
            }
        }
    }

    /// What the buttons of a target need.
    pub(super) fn buttons<'a>(&'a self, target: &'a str) -> Buttons<'a> {
        Buttons { target, keys: self.0.push.as_ref().map(PushSender::keys), page: self.page() }
    }

    /// Tells the policy `unattended` how many devices would be notified of every request and could answer.
    pub(super) fn note_reachable(&self) {
        let channels: Vec<Arc<Channel>> = self.channels().values().cloned().collect();
        let is_reachable = |channel: &&Arc<Channel>| match &channel.via {
            Via::Push(to) => {
                let failures =
                    self.inbox().with(|ledger| ledger.health(&channel.id).map_or(0, |it| it.failures));
                to.scopes.has(Scope::Decide) && to.folders.is_empty() && failures < UNREACHABLE_FROM
            }
            Via::Url(_) => false,
        };
        let count = channels.iter().filter(is_reachable).count();
        self.inbox().sessions().broadcast().set_reachable(count);
    }
}
