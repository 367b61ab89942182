//! Limits of the inbox and of notifications.

use std::time::Duration;

/// Attempts for one notification. With the pauses between them they take about two minutes if the target
/// answers at once.
pub(crate) const NOTIFY_TRIES_MAX: u32 = 8;

/// The pause after the first attempt; each later one is twice as long.
pub(crate) const NOTIFY_PAUSE_FIRST: Duration = Duration::from_secs(1);

/// The longest pause, whatever the target requests.
pub(crate) const NOTIFY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// Time that a target may take to answer.
pub(crate) const NOTIFY_WAIT: Duration = Duration::from_secs(10);

/// Time that connecting to a target may take.
pub(crate) const NOTIFY_CONNECT_WAIT: Duration = Duration::from_secs(5);

/// Redirects that are followed, on the same host only.
pub(crate) const NOTIFY_REDIRECTS_MAX: usize = 3;

/// The longest pause that a target may request by 429, or by its failures.
pub(crate) const NOTIFY_TARGET_PAUSE_MAX: Duration = Duration::from_secs(60 * 60);

/// Reminders of one request.
pub(crate) const NOTIFY_REMINDERS_MAX: usize = 10;

/// Seconds after which the last reminder comes: a week.
pub(crate) const NOTIFY_DELAY_MAX_S: u64 = 7 * 24 * 60 * 60;

/// Buttons of one request at one target whose fingerprints are kept: two for each reminder and some retries.
/// Older ones are refused.
pub(crate) const NOTIFY_BUTTONS_MAX: usize = 32;

/// Sessions, or kinds, whose notifications are switched off.
pub(crate) const NOTIFY_OFF_MAX: usize = 1000;

/// Targets that clients may add, and subscriptions of devices.
pub(crate) const NOTIFY_TARGETS_MAX: usize = 100;

/// Notifications that are sent at the same time.
pub(crate) const NOTIFY_SENDING_MAX: usize = 16;

/// Time for which the acknowledgement of a visible tab counts. Tabs repeat it every twenty seconds.
pub(crate) const VISIBLE_FOR: Duration = Duration::from_secs(45);

/// Items of the inbox. Past it the oldest ones that do not wait are removed.
pub(crate) const INBOX_ITEMS_MAX: usize = 2000;

/// Interval at which the inbox is compared with the pending requests of the journal.
pub(crate) const INBOX_COMPARE_EVERY: Duration = Duration::from_secs(60);

/// Length of a message to a browser before encryption. Push services accept 4096 bytes after it.
pub(crate) const PUSH_BYTES_MAX: usize = 3000;

/// Time for which a push service keeps a message for a device that is not connected.
pub(crate) const PUSH_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Validity of the signature that identifies this server to push services, which accept at most a day.
pub(crate) const PUSH_SIGNATURE_VALID: Duration = Duration::from_secs(12 * 60 * 60);

/// Characters of a command or an answer in a notification: a locked screen shows as many.
pub(crate) const NOTIFY_LINE_CHARS: usize = 200;
