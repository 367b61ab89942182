//! Notifications: their rules, their targets, and the Web Push subscription of a device.

use super::{InboxKind, closed_enums, named_enums, shapes};

shapes! {
    /// Rules for notifications.
    pub struct NotifySettings {
        /// Seconds between an event and its notification. A visible tab that shows it in this time holds the
        /// notification back.
        #[serde(default = "first_after_s")]
        pub first_after_s: u64,
        /// Seconds after the first notification at which a pending request is notified again.
        #[serde(default = "reminders_s")]
        pub reminders_s: Vec<u64>,
        /// Hours in which nothing is sent: everything is sent at their end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub quiet: Option<QuietHours>,
        /// Kinds without notifications.
        #[serde(default)]
        pub off_kinds: Vec<InboxKind>,
        /// Keys of sessions without notifications.
        #[serde(default)]
        pub off_sessions: Vec<String>,
        /// True if messages to browsers contain what the agent wants to do or has said.
        #[serde(default)]
        pub details: bool,
        /// Number of notifications for one target at the same moment from which they are sent as one.
        #[serde(default = "coalesce_from")]
        pub coalesce_from: u64,
    }

    /// Hours of the day, which may include midnight.
    pub struct QuietHours {
        /// The beginning, as `HH:MM`.
        pub from: String,
        /// The end, as `HH:MM`.
        pub to: String,
        /// Time zone, such as `Europe/Berlin`; the server's own if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub zone: Option<String>,
    }

    /// List of targets of notifications.
    pub struct NotifyTargets {
        /// The targets.
        pub items: Vec<NotifyTarget>,
    }

    /// A target of notifications, without its secrets.
    pub struct NotifyTarget {
        /// Id of the target.
        pub id: String,
        /// The kind.
        pub kind: NotifyKind,
        /// Its name, or the host of its URL.
        pub name: String,
        /// Where it was set.
        pub source: TargetSource,
        /// Kinds of items that it is notified of, in the words of a webhook's `event`; all if empty.
        #[serde(default)]
        pub events: Vec<String>,
        /// True if it gets what the agent wants to do or has said.
        #[serde(default)]
        pub include_details: bool,
        /// True if its notifications have a button that allows.
        #[serde(default)]
        pub allow_button: bool,
        /// True if it has a key for signatures.
        #[serde(default)]
        pub has_secret: bool,
        /// True if it has an access token.
        #[serde(default)]
        pub has_token: bool,
        /// State of the target.
        pub state: TargetState,
        /// Time of the last accepted notification.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_sent: Option<String>,
        /// Reason of the last failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// Time before which nothing is sent to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retry_at: Option<String>,
        /// Number of failures since the last accepted notification.
        #[serde(default)]
        pub failures: u64,
        /// True if all servers of the fleet use it, each for its own sessions.
        #[serde(default)]
        pub shared: bool,
        /// Reason why only this server of the fleet uses it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limited: Option<String>,
    }

    /// Request for a new target.
    pub struct NewNotifyTarget {
        /// The kind.
        pub kind: NotifyKind,
        /// The URL of a webhook, or of a topic at ntfy.
        pub url: String,
        /// Name to show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Kinds of items to notify of, in the words of a webhook's `event`; all if empty.
        #[serde(default)]
        pub events: Vec<String>,
        /// True to send what the agent wants to do or has said.
        #[serde(default)]
        pub include_details: bool,
        /// Key of webhook signatures; never returned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub secret: Option<String>,
        /// Access token of a protected ntfy topic; never returned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub token: Option<String>,
        /// True for a button that allows; only for an ntfy topic with a token.
        #[serde(default)]
        pub allow_button: bool,
    }

    /// Result of a test notification.
    #[derive(Default)]
    pub struct NotifyTest {
        /// True if the target accepted it.
        pub sent: bool,
        /// Kind of the failure, such as `gone` or `timeout`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub kind: Option<String>,
        /// The failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub message: Option<String>,
        /// What to do about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hint: Option<String>,
    }

    /// Web Push for the device of the caller.
    pub struct PushState {
        /// Public key of the server, for `applicationServerKey`.
        pub key: String,
        /// True if this device can subscribe.
        pub available: bool,
        /// Reason why it cannot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
        /// True if this device is subscribed.
        pub subscribed: bool,
        /// Its subscription.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub subscription: Option<PushDevice>,
    }

    /// Web Push subscription of a device.
    pub struct PushDevice {
        /// Id of the device.
        pub device: String,
        /// Host of the push service.
        pub host: String,
        /// Time of the subscription.
        pub created: String,
        /// State of the subscription.
        pub state: TargetState,
        /// Time of the last accepted message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_sent: Option<String>,
        /// Reason of the last failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// Time before which nothing is sent to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retry_at: Option<String>,
    }

    /// Subscription of a browser, as its `toJSON` returns it.
    pub struct PushSubscription {
        /// URL of the push service for this browser.
        pub endpoint: String,
        /// Time at which it ends, in milliseconds since the epoch.
        #[serde(default, rename = "expirationTime", skip_serializing_if = "Option::is_none")]
        pub expiration_time: Option<f64>,
        /// Its keys.
        pub keys: PushKeys,
    }

    /// Keys of a browser's subscription, in base64url.
    pub struct PushKeys {
        /// Public key of the browser.
        pub p256dh: String,
        /// Secret that the browser shares with the server.
        pub auth: String,
    }

    /// Buttons of a message to a browser.
    pub struct PushActions {
        /// Token for `/v1/inbox/act`.
        pub token: String,
        /// Possible decisions.
        pub decisions: Vec<super::Choice>,
    }
}

/// Message to a browser, as its service worker gets it after decryption.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", ts(optional_fields))]
#[expect(clippy::large_enum_variant, reason = "nearly every message is of the largest variant")]
pub enum PushMessage {
    /// Shows a notification.
    Notify {
        /// Version of the message.
        v: u32,
        /// Id of the item, or `summary`.
        id: String,
        /// Tag of the notification: a later one with the same tag replaces it.
        tag: String,
        /// Kind of the item, or `summary`.
        kind: String,
        /// Key of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// Title to show.
        title: String,
        /// Text to show.
        body: String,
        /// Link to open, relative to the page.
        url: String,
        /// Time of the item.
        at: String,
        /// Number of the reminder; 0 for the first notification.
        reminder: u32,
        /// True if a request waits for an answer.
        waiting: bool,
        /// Number for the badge.
        badge: u64,
        /// Risk of the tool call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        risk: Option<tidings_protocol::mobile::RiskLevel>,
        /// Buttons; absent if the request must be seen before it is decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        actions: Option<PushActions>,
        /// What the agent wants to do or has said, if the settings include it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        /// Items of a summary.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        items: Vec<String>,
    },
    /// Closes notifications.
    Withdraw {
        /// Version of the message.
        v: u32,
        /// Id of one of the items.
        id: String,
        /// Tags of the notifications to close.
        tags: Vec<String>,
        /// Number for the badge.
        badge: u64,
    },
    /// Shows a notification on request of the user.
    Test {
        /// Version of the message.
        v: u32,
        /// Tag of the notification.
        tag: String,
        /// Title to show.
        title: String,
        /// Text to show.
        body: String,
        /// Link to open, relative to the page.
        url: String,
    },
}

named_enums! {
    /// Kind of a target of notifications.
    pub enum NotifyKind {
        /// A program that accepts JSON.
        Webhook = "webhook",
        /// An incoming webhook of Slack.
        Slack = "slack",
        /// A webhook of Discord.
        Discord = "discord",
        /// A topic of ntfy, which shows notifications on phones.
        Ntfy = "ntfy",
        /// A browser of a device.
        WebPush = "web_push",
    }
}

closed_enums! {
    /// Place in which a target was set.
    pub enum TargetSource {
        /// The settings file of the server.
        File,
        /// The page, or another client of the API.
        Page,
        /// The subscription of a device.
        Device,
    }

    /// State of a target.
    pub enum TargetState {
        /// Nothing was sent to it yet.
        New,
        /// It accepted the last notification.
        Ok,
        /// It did not accept the last notification.
        Failing,
    }
}

fn first_after_s() -> u64 {
    3
}

fn reminders_s() -> Vec<u64> {
    vec![60, 300, 1800]
}

fn coalesce_from() -> u64 {
    4
}

impl Default for NotifySettings {
    fn default() -> Self {
        NotifySettings {
            first_after_s: first_after_s(),
            reminders_s: reminders_s(),
            quiet: None,
            off_kinds: Vec::new(),
            off_sessions: Vec::new(),
            details: false,
            coalesce_from: coalesce_from(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_same_word_in_json() {
        for kind in NotifyKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for kind in InboxKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
