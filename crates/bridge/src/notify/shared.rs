//! Targets that all servers of a fleet know. The owner of a session notifies them, so that each event causes
//! one notification.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::Value;
use tidings_api::{Code, TargetSource};
use tidings_sessions::Error;
use tokio::sync::watch;

use super::Notifications;
use super::channel::{Channel, TargetReach, Via};
use super::manage::TARGETS;
use super::target::Target;
use super::url_target::UrlTarget;
use crate::limits::NOTIFY_TARGETS_MAX;

/// The shared state, as far as targets need it.
pub(crate) trait SharedTargets: Send + Sync + fmt::Debug {
    /// Removes a target for all servers.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), Error>>;
}

impl Notifications {
    /// Sets the way to the shared state. Only the first call counts.
    pub(crate) fn set_shared_targets(&self, shared: Arc<dyn SharedTargets>) {
        drop(self.0.shared.set(shared));
    }

    /// Changes whenever a target is added here.
    pub(crate) fn target_changes(&self) -> watch::Receiver<u64> {
        self.0.target_changes.subscribe()
    }

    /// The targets that were added on this server, with their secrets, by id.
    pub(crate) async fn own_targets(&self) -> Result<Vec<(String, Value)>, Error> {
        self.load().await?;
        let targets: Vec<(String, Target)> = self.inbox().documents(TARGETS).await?;
        let value = |(id, target)| Some((id, serde_json::to_value(target).ok()?));
        Ok(targets.into_iter().filter_map(value).collect())
    }

    /// Notes why only this server uses a target.
    pub(crate) fn keep_target_here(&self, id: &str, why: &str) {
        self.0.only_here.lock().insert(id.to_owned(), why.to_owned());
    }

    /// Sets the targets of the fleet, and removes those that were removed on another server.
    pub(crate) async fn set_shared(
        &self,
        known: Vec<(String, Value)>,
        removed: &[String],
    ) -> Result<(), Error> {
        self.load().await?;
        let _turn = self.0.changing.lock().await;
        let own: BTreeMap<String, Target> = self.inbox().documents(TARGETS).await?.into_iter().collect();
        let mut shared = BTreeMap::new();
        for (id, target) in known.into_iter().take(NOTIFY_TARGETS_MAX) {
            match target_of(target).and_then(UrlTarget::new) {
                Ok(target) => drop(shared.insert(id, target)),
                Err(error) => tracing::warn!(id, %error, "a target of the fleet is not used"),
            }
        }
        for id in own.keys().filter(|id| removed.contains(id)) {
            self.inbox().store::<Target>(TARGETS, id, None).await?;
        }
        let is_here = |id: &String| own.contains_key(id) && !removed.contains(id);
        let before: Vec<Arc<Channel>> = self.channels().values().cloned().collect();
        let page = before.iter().filter(|channel| channel.source == TargetSource::Page);
        for channel in page.filter(|channel| !shared.contains_key(&channel.id) && !is_here(&channel.id)) {
            self.channels().remove(&channel.id);
            self.inbox().change(|ledger, _| ledger.forget_target(&channel.id)).await;
        }
        for (id, target) in shared {
            let is_known = |channel: &Arc<Channel>| channel.id == id && channel.reach == TargetReach::Owner;
            if !before.iter().any(is_known) {
                self.0.only_here.lock().remove(&id);
                let via = Via::Url(Box::new(target));
                let channel =
                    Channel { id: id.clone(), source: TargetSource::Page, reach: TargetReach::Owner, via };
                self.channels().insert(id, Arc::new(channel));
            }
        }
        self.inbox().wake();
        Ok(())
    }

    /// Removes a target from the fleet, if it is shared.
    pub(super) async fn remove_shared(&self, channel: &Channel) -> Result<(), Error> {
        match self.0.shared.get().filter(|_| channel.reach == TargetReach::Owner) {
            Some(shared) => shared.remove(&channel.id).await,
            None => Ok(()),
        }
    }
}

/// Checks a target of another server. Parts that this version does not know are left out.
pub(crate) fn check_shared_target(target: &Value) -> Result<bool, Error> {
    let target = target_of(target.clone())?;
    let has_button = target.allow_button;
    UrlTarget::new(target).map(|_| has_button)
}

fn target_of(mut target: Value) -> Result<Target, Error> {
    const KNOWN: [&str; 8] =
        ["url", "kind", "events", "include_details", "secret", "token", "name", "allow_button"];
    if let Some(parts) = target.as_object_mut() {
        parts.retain(|key, _| KNOWN.contains(&key.as_str()));
    }
    serde_json::from_value(target).map_err(|error| {
        // The error does not name values, which may be secrets.
        let kind = if error.is_data() { "a part has another form" } else { "it is damaged" };
        Error::new(Code::Invalid, format!("The target cannot be read: {kind}"), "the versions may differ")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidings_api::InboxKind;

    use super::*;
    use crate::inbox::{Item, Subject};

    #[test]
    fn a_shared_target_is_notified_by_the_owner_of_the_session_only() {
        let target = json!({"url": "https://example.org/hook", "kind": "webhook", "tide": "high"});
        assert!(!check_shared_target(&target).unwrap(), "an unknown part is no fault");
        let target = UrlTarget::new(target_of(target).unwrap()).unwrap();
        let via = Via::Url(Box::new(target));
        let id = "page:1".to_owned();
        let mut channel = Channel { id, source: TargetSource::Page, reach: TargetReach::Owner, via };
        let subject = |node: Option<&str>| Subject {
            node: node.map(str::to_owned),
            ..Subject::new("s", 1, "/shop", None)
        };
        let item = |subject| Item::new("i", InboxKind::Finished, 0, subject);
        assert!(channel.wants(&item(Some(subject(None)))));
        assert!(!channel.wants(&item(Some(subject(Some("two"))))));
        assert!(channel.wants(&item(None)), "each server speaks of its own disk");
        channel.reach = TargetReach::All;
        assert!(channel.wants(&item(Some(subject(Some("two"))))), "no other server knows the target");
    }

    #[test]
    fn a_target_that_cannot_be_read_does_not_reveal_its_secrets() {
        let target = json!({"url": "https://example.org/s3cret", "kind": "s3cret"});
        let error = check_shared_target(&target).unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}
