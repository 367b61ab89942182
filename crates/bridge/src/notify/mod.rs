//! Notifications about items of the inbox: Web Push, and the kinds of targets in `kinds`.
//!
//! Texts leave out what the agent wants to do and what it has said, unless the owner enables details: they
//! pass through servers of third parties and appear on locked screens.

mod act;
mod attempt;
mod channel;
mod compose;
mod content;
mod dispatch;
mod kinds;
mod manage;
mod shared;
mod target;
mod token;
mod url_target;
mod web_push;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use tidings_api::{NotifySettings, TargetSource};
use tidings_sessions::{Error, Sessions};
use tokio::sync::{OnceCell, Semaphore, watch};
use tokio_util::sync::CancellationToken;

pub use compose::{Details, Notification};
pub use kinds::{Credential, UrlKind, url_kind};
pub(crate) use shared::{SharedTargets, check_shared_target};
pub use target::{Occasion, Target};
pub use web_push::PushKeys;

use self::channel::{Channel, TargetReach, Via};
use self::url_target::UrlTarget;
use self::web_push::{PushSender, Reach};
use crate::inbox::{Inbox, Rules};
use crate::limits::NOTIFY_SENDING_MAX;

/// The configuration of notifications.
#[derive(Debug, Default)]
pub struct Notifier {
    targets: Vec<UrlTarget>,
    /// The URL of this server's page, for links.
    page: Option<String>,
    push: Option<PushSender>,
    /// Rules until others are set.
    rules: Option<Rules>,
}

impl Notifier {
    /// Checks the targets. Nothing is sent before the server runs.
    pub fn new(targets: Vec<Target>, page: Option<String>) -> Result<Self, Error> {
        let targets = targets.into_iter().map(UrlTarget::new).collect::<Result<_, _>>()?;
        Ok(Notifier { targets, page, push: None, rules: None })
    }

    /// Sets the rules that hold until a client sets others.
    pub fn settings(mut self, settings: NotifySettings) -> Result<Self, Error> {
        self.rules = Some(Rules::new(settings)?);
        Ok(self)
    }

    /// Sends notifications about sessions without a server, until it is stopped.
    pub async fn run(self, sessions: Sessions, stopping: CancellationToken) {
        Notifications::new(sessions, self).run(None, stopping).await;
    }

    /// Adds messages to browsers.
    pub fn web_push(mut self, keys: PushKeys) -> Result<Self, Error> {
        self.push = Some(PushSender::new(keys, Reach::Public)?);
        Ok(self)
    }

    /// The same with push services on this machine, also without TLS. For tests only: every device could
    /// have the server call programs on its own machine.
    pub fn web_push_on_loopback(mut self, keys: PushKeys) -> Result<Self, Error> {
        self.push = Some(PushSender::new(keys, Reach::Loopback)?);
        Ok(self)
    }
}

/// Notifications of a running server, and the inbox that they come from. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Notifications(Arc<NotificationsInner>);

#[derive(Debug)]
struct NotificationsInner {
    inbox: Inbox,
    page: Option<String>,
    push: Option<PushSender>,
    channels: Mutex<BTreeMap<String, Arc<Channel>>>,
    loaded: OnceCell<()>,
    sending: Semaphore,
    /// Serializes changes of targets, so that their number stays bounded.
    changing: tokio::sync::Mutex<()>,
    /// The targets of the fleet, if there is one.
    shared: OnceLock<Arc<dyn SharedTargets>>,
    target_changes: watch::Sender<u64>,
    /// Reasons why only this server uses a target.
    only_here: Mutex<BTreeMap<String, String>>,
}

impl Notifications {
    pub(crate) fn new(sessions: Sessions, notifier: Notifier) -> Self {
        let Notifier { targets, page, push, rules } = notifier;
        let of_file = |(number, target): (usize, UrlTarget)| {
            let id = format!("file:{}", number + 1);
            let channel = Channel {
                id: id.clone(),
                source: TargetSource::File,
                reach: TargetReach::All,
                via: Via::Url(Box::new(target)),
            };
            (id, Arc::new(channel))
        };
        let channels = targets.into_iter().enumerate().map(of_file).collect();
        Notifications(Arc::new(NotificationsInner {
            inbox: Inbox::new(sessions, rules.unwrap_or_default()),
            page,
            push,
            channels: Mutex::new(channels),
            loaded: OnceCell::new(),
            sending: Semaphore::new(NOTIFY_SENDING_MAX),
            changing: tokio::sync::Mutex::default(),
            shared: OnceLock::new(),
            target_changes: watch::Sender::new(0),
            only_here: Mutex::default(),
        }))
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.0.inbox
    }

    fn channels(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Channel>>> {
        self.0.channels.lock()
    }

    fn channel(&self, id: &str) -> Option<Arc<Channel>> {
        self.channels().get(id).cloned()
    }

    fn page(&self) -> Option<&str> {
        self.0.page.as_deref()
    }
}

/// How a target has answered, for people who look for the reason of a silence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TargetHealth {
    /// The id of the target.
    pub id: String,
    /// The reason of its last failure, if it does not accept notifications at the moment.
    pub error: Option<String>,
}

/// Reads how the targets of a server have answered from its journal, also while the server runs. It blocks on
/// the disk.
pub fn target_health(journal: &std::path::Path) -> Result<Vec<TargetHealth>, Error> {
    let documents = tidings_journal::SqliteJournal::read_documents(journal, crate::inbox::HEALTH)?;
    let read = |document: tidings_journal::StoredDocument| {
        let health: crate::inbox::TargetRecord = serde_json::from_slice(&document.body).ok()?;
        let error = health.error.filter(|_| health.failures > 0);
        Some(TargetHealth { id: document.id, error })
    };
    Ok(documents.into_iter().filter_map(read).collect())
}
