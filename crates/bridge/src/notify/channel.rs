//! Everything that notifications can be sent to: targets with a URL, and browsers of devices.

use tidings_api::{NotifyKind, NotifyTarget, PushDevice, TargetSource, TargetState};

use super::target::Occasion;
use super::url_target::UrlTarget;
use super::web_push::PushEndpoint;
use crate::inbox::{Item, TargetRecord, sees, text};

/// One target.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) id: String,
    pub(super) source: TargetSource,
    pub(super) reach: TargetReach,
    pub(super) via: Via,
}

/// The sessions that this server notifies a target of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetReach {
    /// All that it shows: no other server knows the target.
    All,
    /// Its own: every server of the fleet knows the target.
    Owner,
}

#[derive(Debug)]
pub(super) enum Via {
    Url(Box<UrlTarget>),
    Push(PushEndpoint),
}

/// The id of the target for a device.
pub(super) fn device_target(device: &str) -> String {
    format!("device:{device}")
}

impl Channel {
    pub(super) fn kind(&self) -> NotifyKind {
        match &self.via {
            Via::Url(target) => target.config.kind,
            Via::Push(_) => NotifyKind::WebPush,
        }
    }

    pub(super) fn name(&self) -> String {
        match &self.via {
            Via::Url(target) => target.name(),
            Via::Push(subscription) => subscription.name.clone(),
        }
    }

    /// The name for the log.
    pub(super) fn log_name(&self) -> String {
        match &self.via {
            Via::Url(target) => target.log_name.clone(),
            Via::Push(subscription) => format!("web_push {}", subscription.host()),
        }
    }

    /// True if it is notified of an item.
    pub(super) fn wants(&self, item: &Item) -> bool {
        let is_elsewhere = item.subject.as_ref().is_some_and(|subject| subject.node.is_some());
        if is_elsewhere && self.reach == TargetReach::Owner {
            return false;
        }
        match &self.via {
            Via::Url(target) => target.wants(item.kind),
            Via::Push(subscription) => sees(&subscription.caller(), item),
        }
    }

    pub(super) fn view(&self, health: Option<&TargetRecord>) -> NotifyTarget {
        let mut view = NotifyTarget {
            id: self.id.clone(),
            kind: self.kind(),
            name: self.name(),
            source: self.source,
            events: Vec::new(),
            include_details: false,
            allow_button: false,
            has_secret: false,
            has_token: false,
            state: health.map_or(TargetState::New, TargetRecord::state),
            last_sent: health.and_then(|health| health.last_sent).map(text),
            error: health.and_then(|health| health.error.clone()),
            retry_at: health.and_then(|health| health.retry_at).map(text),
            failures: health.map_or(0, |health| u64::from(health.failures)),
            shared: self.reach == TargetReach::Owner,
            limited: None,
        };
        if let Via::Url(target) = &self.via {
            let config = &target.config;
            view.events = config.events.iter().copied().map(Occasion::as_str).map(str::to_owned).collect();
            view.include_details = config.include_details;
            view.allow_button = config.allow_button;
            view.has_secret = config.secret.is_some();
            view.has_token = config.token.is_some();
        }
        view
    }
}

impl PushEndpoint {
    pub(super) fn view(&self, health: Option<&TargetRecord>) -> PushDevice {
        PushDevice {
            device: self.device.clone(),
            host: self.host(),
            created: text(self.created),
            state: health.map_or(TargetState::New, TargetRecord::state),
            last_sent: health.and_then(|health| health.last_sent).map(text),
            error: health.and_then(|health| health.error.clone()),
            retry_at: health.and_then(|health| health.retry_at).map(text),
        }
    }
}
