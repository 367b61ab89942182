//! Targets and subscriptions that clients manage.

use std::sync::Arc;

use tidings_api::{
    Code, InboxItem, NewNotifyTarget, NotifyTarget, NotifyTest, PushMessage, PushState, PushSubscription,
    TargetSource,
};
use tidings_sessions::{Caller, Error};

use super::Notifications;
use super::attempt::Attempt;
use super::channel::{Channel, TargetReach, Via, device_target};
use super::target::{Occasion, Target};
use super::url_target::UrlTarget;
use super::web_push::{PushEndpoint, Urgency};
use crate::auth::Auth;
use crate::inbox::{Item, Outcome, text};
use crate::limits::NOTIFY_TARGETS_MAX;

/// Documents of targets that clients added.
pub(super) const TARGETS: &str = "notify_target";

/// Documents of subscriptions, by device.
const SUBSCRIPTIONS: &str = "push_subscription";

/// The longest URL, name, secret or token of a target.
const TARGET_TEXT_MAX: usize = 2000;

impl Notifications {
    /// Reads the targets and subscriptions, once.
    pub(crate) async fn load(&self) -> Result<(), Error> {
        self.0.loaded.get_or_try_init(|| self.read_targets()).await?;
        self.inbox().load().await
    }

    async fn read_targets(&self) -> Result<(), Error> {
        let targets: Vec<(String, Target)> = self.inbox().documents(TARGETS).await?;
        let subscriptions: Vec<(String, PushEndpoint)> = self.inbox().documents(SUBSCRIPTIONS).await?;
        let mut channels = self.channels();
        for (id, target) in targets {
            match UrlTarget::new(target) {
                Ok(target) => {
                    let via = Via::Url(Box::new(target));
                    channels.insert(
                        id.clone(),
                        Arc::new(Channel { id, source: TargetSource::Page, reach: TargetReach::All, via }),
                    );
                }
                Err(error) => tracing::warn!(id, %error, "a target of notifications is not used"),
            }
        }
        for (device, subscription) in subscriptions {
            let (id, via) = (device_target(&device), Via::Push(subscription));
            channels.insert(
                id.clone(),
                Arc::new(Channel { id, source: TargetSource::Device, reach: TargetReach::All, via }),
            );
        }
        Ok(())
    }

    /// All targets, without their secrets.
    pub(crate) async fn targets(&self) -> Result<Vec<NotifyTarget>, Error> {
        self.load().await?;
        let channels: Vec<Arc<Channel>> = self.channels().values().cloned().collect();
        let only_here = self.0.only_here.lock().clone();
        let view = |channel: &Arc<Channel>| {
            let limited = only_here.get(&channel.id).cloned();
            let view = self.inbox().with(|ledger| channel.view(ledger.health(&channel.id)));
            NotifyTarget { limited, ..view }
        };
        Ok(channels.iter().map(view).collect())
    }

    /// Adds a target.
    pub(crate) async fn add_target(&self, new: NewNotifyTarget) -> Result<NotifyTarget, Error> {
        self.load().await?;
        let _turn = self.0.changing.lock().await;
        let target = UrlTarget::new(checked(new)?)?;
        let added = self.channels().values().filter(|it| it.source == TargetSource::Page).count();
        if added >= NOTIFY_TARGETS_MAX {
            return Err(Error::new(Code::TooMany, "There are too many targets", "remove unused ones"));
        }
        let id = format!("page:{}", self.inbox().sessions().config().ids.next());
        self.inbox().store(TARGETS, &id, Some(&target.config)).await?;
        let via = Via::Url(Box::new(target));
        let channel = Channel { id: id.clone(), source: TargetSource::Page, reach: TargetReach::All, via };
        let channel = Arc::new(channel);
        let view = channel.view(None);
        self.channels().insert(id, channel);
        self.0.target_changes.send_modify(|count| *count += 1);
        Ok(view)
    }

    /// Removes a target or the subscription of a device.
    pub(crate) async fn remove_target(&self, id: &str) -> Result<(), Error> {
        self.load().await?;
        let channel = self.channel(id).ok_or_else(|| no_target(id))?;
        match channel.source {
            TargetSource::File => {
                let message = "This target is in the settings file of the server";
                return Err(Error::new(Code::Conflict, message, "remove it there and restart the server"));
            }
            TargetSource::Page => {
                self.remove_shared(&channel).await?;
                self.inbox().store::<Target>(TARGETS, id, None).await?;
            }
            TargetSource::Device => self.forget_subscription(&channel).await?,
        }
        self.channels().remove(id);
        self.inbox().change(|ledger, _| ledger.forget_target(id)).await;
        self.note_reachable();
        Ok(())
    }

    /// Accepted notifications and failed attempts of a target.
    pub(crate) fn sent_and_failed(&self, id: &str) -> (u64, u64) {
        self.inbox().with(|ledger| ledger.health(id).map_or((0, 0), |health| (health.sent, health.failed)))
    }

    /// Sends a test message to a device.
    pub(crate) async fn test_device(&self, device: &str) -> Result<NotifyTest, Error> {
        self.test_target(&device_target(device)).await
    }

    /// Sends a test notification.
    pub(crate) async fn test_target(&self, id: &str) -> Result<NotifyTest, Error> {
        self.load().await?;
        let channel = self.channel(id).ok_or_else(|| no_target(id))?;
        let attempt = match &channel.via {
            Via::Url(target) => target.test(self.inbox(), &self.buttons(id)).await,
            Via::Push(to) => self.test_push(to).await,
        };
        let (result, outcome) = (attempt.test(), attempt.outcome());
        self.inbox().change(|ledger, now| ledger.tested(id, &outcome, now)).await;
        if matches!(outcome, Outcome::Gone { .. }) {
            self.remove_gone(id).await;
        }
        Ok(result)
    }

    async fn test_push(&self, to: &PushEndpoint) -> Attempt {
        let Some(push) = &self.0.push else {
            return Attempt::failed(super::attempt::FailureKind::Refused, "this server sends no messages");
        };
        let message = PushMessage::Test {
            v: 1,
            tag: "test".to_owned(),
            title: "Tidings".to_owned(),
            body: "Notifications work on this device".to_owned(),
            url: "#/settings".to_owned(),
        };
        push.send(to, &message, Urgency::High, self.page(), self.inbox().now()).await
    }

    /// The subscription of the caller's device.
    pub(crate) async fn push_state(&self, caller: &Caller) -> Result<PushState, Error> {
        self.load().await?;
        let device = caller.device.as_deref().map(device_target);
        let channel = device.as_deref().and_then(|id| self.channel(id));
        let subscription = channel.as_ref().and_then(|channel| match &channel.via {
            Via::Push(to) => Some(self.inbox().with(|ledger| to.view(ledger.health(&channel.id)))),
            Via::Url(_) => None,
        });
        let reason = match (&self.0.push, &caller.device) {
            (None, _) => Some("this server sends no messages to browsers"),
            (_, None) => Some("only a paired device can be notified: pair this browser"),
            _ => None,
        };
        Ok(PushState {
            key: self.0.push.as_ref().map(|push| push.keys().public()).unwrap_or_default(),
            available: reason.is_none(),
            reason: reason.map(str::to_owned),
            subscribed: subscription.is_some(),
            subscription,
        })
    }

    /// Sets the subscription of the caller's device.
    pub(crate) async fn subscribe(&self, caller: &Caller, wanted: PushSubscription) -> Result<(), Error> {
        self.load().await?;
        let _turn = self.0.changing.lock().await;
        let Some(push) = &self.0.push else {
            let message = "This server sends no messages to browsers";
            return Err(Error::new(Code::Unavailable, message, "start it with a data folder"));
        };
        let subscription = push.subscription(caller, wanted, self.inbox().now())?;
        let (device, id) = (subscription.device.clone(), device_target(&subscription.device));
        let count = self.channels().values().filter(|it| it.source == TargetSource::Device).count();
        if count >= NOTIFY_TARGETS_MAX && self.channel(&id).is_none() {
            return Err(Error::new(
                Code::TooMany,
                "Too many devices are subscribed",
                "revoke unused devices",
            ));
        }
        self.inbox().store(SUBSCRIPTIONS, &device, Some(&subscription)).await?;
        self.inbox().change(|ledger, _| ledger.forget_target(&id)).await;
        let via = Via::Push(subscription);
        let (id_of, reach) = (id.clone(), TargetReach::All);
        let channel = Channel { id: id_of, source: TargetSource::Device, reach, via };
        self.channels().insert(id, Arc::new(channel));
        self.note_reachable();
        Ok(())
    }

    /// Removes the subscription of a device, if it has one.
    pub(crate) async fn remove_device(&self, device: &str) {
        let id = device_target(device);
        if self.channel(&id).is_some()
            && let Err(error) = self.remove_target(&id).await
        {
            tracing::warn!(device, %error, "failed to remove the subscription of a device");
        }
    }

    /// Removes the subscriptions of devices that do not exist any more.
    pub(super) async fn keep_devices(&self, auth: &Auth) {
        let known: Vec<String> = auth.devices().into_iter().map(|device| device_target(&device.id)).collect();
        let channels: Vec<Arc<Channel>> = self.channels().values().cloned().collect();
        for channel in channels {
            if let (Via::Push(to), false) = (&channel.via, known.contains(&channel.id)) {
                self.remove_device(&to.device).await;
            }
        }
    }

    /// Removes the subscription behind a target that is gone. Other targets stay, for people to mend.
    pub(super) async fn remove_gone(&self, target: &str) {
        let Some(channel) = self.channel(target) else { return };
        if let Via::Push(to) = &channel.via {
            tracing::info!(device = to.device, "the browser of a device has ended its subscription");
            if let Err(error) = self.forget_subscription(&channel).await {
                tracing::warn!(%error, "failed to remove a subscription");
            }
            // The health stays, so that people can see what happened.
            self.channels().remove(target);
            self.note_reachable();
        }
    }

    async fn forget_subscription(&self, channel: &Channel) -> Result<(), Error> {
        match &channel.via {
            Via::Push(to) => self.inbox().store::<PushEndpoint>(SUBSCRIPTIONS, &to.device, None).await,
            Via::Url(_) => Ok(()),
        }
    }

    /// An item as clients see it, with the state of its notifications.
    pub(crate) fn view(&self, id: &str) -> Option<InboxItem> {
        let item: Item = self.inbox().with(|ledger| ledger.item(id).cloned())?;
        let mut view = item.view();
        for (target, delivery) in &item.deliveries {
            let channel = self.channel(target);
            view.deliveries.push(tidings_api::InboxDelivery {
                target: target.clone(),
                kind: channel.as_ref().map(|channel| channel.kind()),
                name: channel.as_ref().map(|channel| channel.name()),
                state: delivery.state,
                at: text(delivery.at),
                tries: delivery.tries,
                error: delivery.error.clone(),
                retry_at: delivery.retry_at.map(text),
            });
        }
        Some(view)
    }
}

fn checked(new: NewNotifyTarget) -> Result<Target, Error> {
    let wrong = |message: &str, hint: &'static str| Error::new(Code::Invalid, message, hint);
    let NewNotifyTarget { kind, url, name, events, include_details, secret, token, allow_button } = new;
    let texts = [Some(&url), name.as_ref(), secret.as_ref(), token.as_ref()];
    if texts.into_iter().flatten().any(|text| text.len() > TARGET_TEXT_MAX || text.contains(char::is_control))
    {
        return Err(wrong("A text of the target is too long, or has control characters", "check its parts"));
    }
    let occasion = |word: String| {
        Occasion::ALL.into_iter().find(|occasion| occasion.as_str() == word).ok_or_else(|| {
            let hint = "use permission, question, turn_ended, failed, denied, limit or disk_full";
            Error::new(Code::Invalid, format!("There is no event `{word}`"), hint)
        })
    };
    let events = events.into_iter().map(occasion).collect::<Result<_, _>>()?;
    Ok(Target { url, kind, events, include_details, secret, token, name, allow_button })
}

fn no_target(id: &str) -> Error {
    Error::new(Code::NotFound, format!("No target has the id `{id}`"), "list the targets first")
}
